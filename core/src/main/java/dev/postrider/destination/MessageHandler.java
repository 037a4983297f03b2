package dev.postrider.destination;

import dev.postrider.message.Message;
import dev.postrider.message.Outcome;

/**
 * Your own code as a destination. A thrown exception counts as retryable, except {@link
 * dev.postrider.message.UnreadablePayloadException}, which counts as terminal. Must be thread-safe:
 * a relay calls it from several threads at a time.
 */
@FunctionalInterface
public interface MessageHandler {
  Outcome handle(Message message) throws Exception;
}
