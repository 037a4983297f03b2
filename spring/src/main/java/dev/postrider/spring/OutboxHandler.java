package dev.postrider.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method of a bean that handles the messages of a topic, in this application. Its
 * parameters, in any order: the payload as one object, {@code String} or {@code byte[]}; the
 * headers as {@code Map<String, String>}; the attempt as {@code int}, 1 for the first; the {@link
 * dev.postrider.message.Message} itself. It returns nothing, or an {@link
 * dev.postrider.message.Outcome}.
 *
 * <p>A message whose handler throws is retried, unless {@link #terminal} lists the exception.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Reflective(HandlerReflection.class)
public @interface OutboxHandler {
  /** The namespace of the messages, or {@code *} for all. */
  String namespace();

  /** The topic of the messages, or {@code *} for all. */
  String topic();

  /**
   * The subscription of the topic that the handler serves; it needs an exact namespace and topic. A
   * topic may have several: each gets every message, with its own order and retries.
   */
  String subscription() default "";

  /** The name of the outbox in {@code postrider.outboxes}. By default the one without a name. */
  String outbox() default "";

  /**
   * The name of the destination, which operators see and pause it by, and of the consumer in the
   * inbox. By default the names of the bean and the method. Give one if you use {@link #once}:
   * renaming the method would otherwise start a new consumer.
   */
  String name() default "";

  /** Threads that call the method. Messages of one key are never handled at the same time. */
  int threads() default 4;

  /**
   * How long a call may take, such as {@code 5m}; an hour at most. After that the message counts as
   * failed and is retried, even if the method still runs.
   */
  String timeout() default "30s";

  /**
   * Whether to call the method in a transaction that also records the message in the inbox, so that
   * its effects in the database happen once.
   */
  boolean once() default false;

  /** Exceptions and errors after which another attempt is useless: the message is dead at once. */
  Class<? extends Throwable>[] terminal() default {};
}
