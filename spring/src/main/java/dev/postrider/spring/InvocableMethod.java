package dev.postrider.spring;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.support.AopUtils;

/** A method of a bean, called through the proxy in front of it if it has one. Thread-safe. */
final class InvocableMethod {
  private final Supplier<Object> bean;
  private final Method method;
  private volatile @Nullable Chosen chosen;

  private record Chosen(Class<?> type, Method method) {}

  /**
   * Checks what can be known before the bean exists.
   *
   * @param bean found when the method is called first
   * @param exposed the type of the bean or of its proxy, as far as it is known
   */
  InvocableMethod(Supplier<Object> bean, Class<?> exposed, Method method) {
    this.bean = bean;
    this.method = method;
    if (Modifier.isPrivate(method.getModifiers())) {
      throw new StartException(
          "The @OutboxHandler method %s is private.".formatted(method),
          "Remove private: a proxy in front of the bean could not call it.");
    }
    on(exposed);
  }

  Method declared() {
    return method;
  }

  @Nullable Object call(Object[] arguments) throws Exception {
    Object target = bean.get();
    try {
      return on(target.getClass()).invoke(target, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      } else if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw e;
    }
  }

  private Method on(Class<?> type) {
    Chosen known = chosen;
    if (known == null || known.type() != type) {
      known = new Chosen(type, choose(type));
      chosen = known;
    }
    return known.method();
  }

  private Method choose(Class<?> type) {
    if (SpringProxy.class.isAssignableFrom(type)
        && !Proxy.isProxyClass(type)
        && Modifier.isFinal(method.getModifiers())) {
      throw new StartException(
          "The @OutboxHandler method %s is final, and its bean is behind a proxy."
              .formatted(method),
          "Remove final: the proxy would call the method without the fields of the bean.");
    }
    try {
      Method found = AopUtils.selectInvocableMethod(method, type);
      found.setAccessible(true);
      return found;
    } catch (IllegalStateException e) {
      throw new StartException(
          "The @OutboxHandler method %s cannot be called through the proxy of its bean."
              .formatted(method),
          "Declare it in an interface of the bean, or set spring.aop.proxy-target-class=true.",
          e);
    }
  }
}
