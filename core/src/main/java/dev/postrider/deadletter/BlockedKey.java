package dev.postrider.deadletter;

import dev.postrider.message.Route;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A key that waits for its dead head. Immutable.
 *
 * @param head the dead message
 * @param route the head's; followers may be of other topics
 * @param blockedFor by the database's clock
 * @param followers messages that wait behind it, counted no further than {@link #MOST}
 */
public record BlockedKey(
    String namespace,
    String key,
    UUID head,
    Route route,
    long sequence,
    Instant blockedAt,
    Duration blockedFor,
    int followers,
    @Nullable String code,
    @Nullable String error) {

  /** Followers are not counted further: this many means this many or more. */
  public static final int MOST = 1000;
}
