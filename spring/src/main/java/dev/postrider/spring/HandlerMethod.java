package dev.postrider.spring;

import dev.postrider.destination.MessageHandler;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.JsonCodec;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.UnreadablePayloadException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;

/** Calls a method with what it asks for of a message. Thread-safe if the bean is. */
final class HandlerMethod implements MessageHandler {
  private static final ResolvableType HEADERS =
      ResolvableType.forClassWithGenerics(Map.class, String.class, String.class);

  private final InvocableMethod method;
  private final Class<? extends Throwable>[] terminal;
  private final List<Function<Message, Object>> arguments;

  /**
   * @param type of the bean, which knows what the type variables of the method stand for
   * @param codec reads payloads that are objects; null if there is none
   */
  HandlerMethod(
      InvocableMethod method, Class<?> type, OutboxHandler marked, @Nullable JsonCodec codec) {
    this.method = method;
    this.terminal = marked.terminal();
    this.arguments = arguments(type, method.declared(), codec);
  }

  private static List<Function<Message, Object>> arguments(
      Class<?> bean, Method method, @Nullable JsonCodec codec) {
    List<Function<Message, Object>> arguments = new ArrayList<>();
    int payloads = 0;
    for (int i = 0; i < method.getParameterCount(); i++) {
      ResolvableType parameter = ResolvableType.forMethodParameter(method, i, bean);
      Class<?> type = parameter.toClass();
      if (type == Message.class) {
        arguments.add(message -> message);
      } else if (HEADERS.isAssignableFrom(parameter)) {
        arguments.add(Message::headers);
      } else if (type == int.class) {
        arguments.add(Message::attempt);
      } else if (parameter.resolve() == null) {
        throw new StartException(
            "The @OutboxHandler method %s takes a %s, and %s does not say what that is."
                .formatted(
                    method, method.getGenericParameterTypes()[i].getTypeName(), bean.getName()),
            "Declare a class or record as the type of the parameter.");
      } else if (parameter.hasGenerics()) {
        throw new StartException(
            "The @OutboxHandler method %s takes a %s.".formatted(method, parameter),
            "The payload's type must have no type arguments: declare a class or record that holds"
                + " it, or take an array. Headers are a Map<String, String>.");
      } else {
        arguments.add(payload(method, type, codec));
        payloads++;
      }
    }
    if (asynchronous(bean, method)) {
      throw new StartException(
          "The @OutboxHandler method %s is @Async: it returns before its work is done, so a failure"
                  .formatted(method)
              + " or a crash would lose the message.",
          "Remove @Async. The relay calls handlers on threads of its own; their number is"
              + " @OutboxHandler(threads = …).");
    }
    boolean answers = method.getReturnType() == void.class;
    if (payloads > 1 || !(answers || method.getReturnType() == Outcome.class)) {
      throw new StartException(
          "The @OutboxHandler method " + method + " cannot be called.",
          "Give it at most one parameter for the payload, beside Message, Map<String, String> for"
              + " the headers and int for the attempt, and let it return void or Outcome.");
    }
    return arguments;
  }

  private static boolean asynchronous(Class<?> bean, Method method) {
    return AnnotatedElementUtils.hasAnnotation(method, Async.class)
        || AnnotatedElementUtils.hasAnnotation(bean, Async.class);
  }

  private static Function<Message, Object> payload(
      Method method, Class<?> type, @Nullable JsonCodec codec) {
    if (type == String.class) {
      return Message::text;
    } else if (type == byte[].class) {
      return Message::payload;
    } else if (codec == null) {
      throw new StartException(
          "The @OutboxHandler method %s takes an object, but %s."
              .formatted(method, MissingCodec.REASON),
          MissingCodec.ACTION);
    }
    // Jackson 2 reads null as the number 0.
    Class<?> boxed = ClassUtils.resolvePrimitiveIfNecessary(type);
    return message -> codec.read(message, boxed);
  }

  @Override
  public Outcome handle(Message message) throws Exception {
    try {
      return call(message);
    } catch (UnreadablePayloadException e) {
      throw e;
    } catch (Exception | Error e) {
      for (Class<? extends Throwable> type : terminal) {
        if (type.isInstance(e)) {
          return Outcome.terminal("handler_refused", ErrorReport.of(e));
        }
      }
      throw e;
    }
  }

  private Outcome call(Message message) throws Exception {
    Object[] values = arguments.stream().map(argument -> argument.apply(message)).toArray();
    return method.call(values) instanceof Outcome answer ? answer : Outcome.delivered();
  }
}
