package dev.postrider.spring;

import dev.postrider.message.Message;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Map;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.annotation.ReflectiveProcessor;

/** For native images: handlers are called by reflection, and Jackson reads their payloads. */
final class HandlerReflection implements ReflectiveProcessor {
  private final BindingReflectionHintsRegistrar payloads = new BindingReflectionHintsRegistrar();

  @Override
  public void registerReflectionHints(ReflectionHints hints, AnnotatedElement element) {
    if (element instanceof Method method) {
      hints.registerMethod(method, ExecutableMode.INVOKE);
      for (Class<?> type : method.getParameterTypes()) {
        if (type != Message.class
            && type != Map.class
            && type != String.class
            && type != int.class) {
          payloads.registerReflectionHints(hints, type);
        }
      }
    }
  }
}
