package dev.postrider.destination;

import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Where messages go. The engine calls {@link #deliver} from one thread at a time per destination
 * and never with two messages of one key in flight together, unless {@link #keepsOrder} says that
 * the destination keeps a batch's order itself.
 */
public interface Destination extends AutoCloseable {
  /**
   * Sends a batch. Answers may come from any thread, before or after this returns, each message
   * exactly once; a message without an answer within the timeout counts as failed and is retried. A
   * thrown exception fails those of the batch that are not yet answered, and counts against the
   * destination as a whole. Should not block for long: one that does holds up this destination, and
   * no other.
   */
  void deliver(List<Message> batch, Answers answers);

  /**
   * Whether messages of one key may be sent in one batch, because the destination delivers them in
   * the batch's order and none after one that failed.
   */
  default boolean keepsOrder() {
    return false;
  }

  /**
   * Whether a message may be in one batch with the message of its key before it. Asked only if
   * {@link #keepsOrder}. If not, it is sent when those before it are delivered. Must be quick.
   */
  default boolean mayFollow(Message before, Message next) {
    return true;
  }

  /**
   * The part of the destination that the message goes to, such as a topic, a queue or an endpoint:
   * what fails and recovers by itself. A target that fails is left alone for a while, and the
   * others go on. Null if the destination has a single target; its failures are then those of the
   * destination as a whole. Called for failed messages, and for others only while some target
   * fails. Must be quick.
   */
  default @Nullable String target(Message message) {
    return message.route().toString();
  }

  /**
   * What kind of destination it is, such as {@code webhook}: operators see it beside the name. By
   * default the name of the class, without {@code Destination} and in lower case.
   */
  default String type() {
    String name = getClass().getSimpleName().toLowerCase(Locale.ROOT);
    return name.endsWith("destination") ? name.substring(0, name.length() - 11) : name;
  }

  /** How many messages it can work on at a time; more are not handed over. */
  default int concurrency() {
    return Integer.MAX_VALUE;
  }

  /**
   * How long it may take by its own settings to answer for a message; zero if nothing is known. The
   * relay must wait longer, or it sends again what is still on its way.
   */
  default Duration answersWithin() {
    return Duration.ZERO;
  }

  /** Frees what the destination holds; called once, after the last answer or the deadline. */
  @Override
  default void close() {}

  /** Takes the answers for one batch. Thread-safe. */
  interface Answers {
    void answer(UUID messageId, Outcome outcome);

    /**
     * Answers that a message is delivered, and takes the next message of its key with it, if that
     * may be sent now. The caller sends it at once and answers for it here, as if it were in the
     * batch. This saves a busy key the way through the engine's thread. Null if there is no such
     * message; always null if {@link Destination#keepsOrder}.
     */
    default @Nullable Message deliveredNext(UUID messageId) {
      answer(messageId, Outcome.delivered());
      return null;
    }
  }
}
