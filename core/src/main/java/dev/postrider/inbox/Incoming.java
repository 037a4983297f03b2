package dev.postrider.inbox;

import dev.postrider.message.Message;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the inbox needs to know of a message. Immutable.
 *
 * @param key unique among all that the consumer receives, so with the namespace in it; null if the
 *     order does not matter
 * @param sequence the message's place in its key's order
 * @param redelivery whether an operator sent it again: requeued or replayed; a consumer finds it in
 *     the header {@code x-redelivery}
 */
public record Incoming(UUID id, @Nullable String key, long sequence, boolean redelivery) {

  /** A message in its key's order that no operator has sent again. */
  public Incoming(UUID id, @Nullable String key, long sequence) {
    this(id, key, sequence, false);
  }

  /** A message whose order does not matter. */
  public static Incoming of(UUID id) {
    return new Incoming(id, null, 0);
  }

  /** A message in its key's order, if it has a key. */
  public static Incoming of(Message message) {
    @Nullable String key = message.key();
    return key == null
        ? of(message.id())
        : new Incoming(
            message.id(),
            message.route().namespace() + "/" + key,
            message.sequence(),
            message.redelivery());
  }
}
