package dev.postrider.spring;

import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;

/**
 * A bean that hears of the messages that the outbox without a name published. With the name of an
 * outbox as qualifier it hears of that one's messages instead. Must be thread-safe.
 */
@FunctionalInterface
public interface PublishListener {
  /**
   * A message was written in the current transaction, which is still open. What this throws fails
   * the publish.
   */
  void published(NewMessage message, Enqueued answer);

  /** The transaction of the message has committed. */
  default void committed(NewMessage message, Enqueued answer) {}

  /** The message was rolled back, with its transaction or to a savepoint. */
  default void rolledBack(NewMessage message, Enqueued answer) {}
}
