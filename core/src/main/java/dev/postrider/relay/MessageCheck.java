package dev.postrider.relay;

import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Looks at a message before it is sent, for instance whether an amount is positive. What it answers
 * for is not sent: with a terminal outcome it is dead at once, with one that is not sent or
 * unavailable it is checked again after a pause and no attempt is counted. Must be thread-safe: a
 * relay calls it from several threads at a time.
 */
@FunctionalInterface
public interface MessageCheck {
  /** Lets everything through. */
  MessageCheck NONE = message -> null;

  /** Null if the message may go. */
  @Nullable Outcome refuse(Message message);
}
