package dev.postrider.message;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message as a destination sees it. Immutable, except that the payload array is shared: do not
 * write to it.
 *
 * @param sequence place in the key's order, 0 without a key
 * @param json whether the payload is valid JSON, as enqueue has found; a content type proves
 *     nothing
 * @param attempt 1 for the first try of this delivery
 * @param delivery 1 for the first delivery, more for each requeue or replay
 * @param token fencing token: a later claim of the same message always has a higher one
 */
public record Message(
    UUID id,
    Route route,
    @Nullable String key,
    long sequence,
    @Nullable String dedupeKey,
    @Nullable String tenant,
    @Nullable String aggregateType,
    @Nullable String aggregateId,
    @Nullable String eventType,
    String contentType,
    boolean json,
    Map<String, String> headers,
    byte[] payload,
    Instant createdAt,
    int attempt,
    int delivery,
    long token) {

  public static final String JSON = "application/json";

  /** The payload as text. */
  public String text() {
    return new String(payload, StandardCharsets.UTF_8);
  }

  /** Whether an operator sent it again: requeued from the dead letters, or replayed. */
  public boolean redelivery() {
    return delivery > 1;
  }
}
