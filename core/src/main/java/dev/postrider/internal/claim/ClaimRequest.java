package dev.postrider.internal.claim;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to claim.
 *
 * @param bytes cap on bytes of payload and headers; a first message is taken whatever its size
 * @param routes ids of the routes that may go now
 * @param from where to start
 * @param kind which messages
 */
public record ClaimRequest(
    int worker,
    int limit,
    long bytes,
    Duration lease,
    List<Integer> routes,
    Start from,
    Kind kind) {

  /** Which messages to claim. */
  public enum Kind {
    /** All that are due. */
    DUE,
    /** A single one that is suspected of killing its relays. */
    SUSPECT
  }

  /**
   * Where a claim starts.
   *
   * @param cursor what the last claim returned, null for the first one
   * @param search whether to look for topics, tenants and parked messages that became due
   * @param front whether to look for messages without a key from the oldest on
   */
  public record Start(@Nullable String cursor, boolean search, boolean front) {
    /** Sees everything. */
    public static final Start FRONT = new Start(null, true, true);

    /** For a suspect. An index finds suspects, so no search for topics is needed. */
    public static final Start NONE = new Start(null, false, false);
  }

  public ClaimRequest {
    routes = List.copyOf(routes);
  }
}
