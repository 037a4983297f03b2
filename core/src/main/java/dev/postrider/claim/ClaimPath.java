package dev.postrider.claim;

import dev.postrider.message.Claimed;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides where the next claim starts. A claim from the front sees everything, but while somebody
 * holds an old snapshot it also walks over every row delivered since. So after a full claim the
 * next ones go on where it ended, and claims from the front get at most about a tenth of the time:
 * a message that committed late waits for ten such walks at most. Not thread-safe.
 */
public final class ClaimPath {
  private static final int SHARE = 10;

  private @Nullable ClaimCursor cursor;
  private long nextFrontNanos;

  /** The cursor for a claim that starts now, or null for one from the front. */
  public @Nullable ClaimCursor start(long nowNanos) {
    return cursor != null && nowNanos - nextFrontNanos < 0 ? cursor : null;
  }

  /** Takes note of what a claim found. */
  public void took(
      List<Claimed> found, int limit, @Nullable ClaimCursor from, long startNanos, long endNanos) {
    if (from == null) {
      nextFrontNanos = endNanos + SHARE * (endNanos - startNanos);
    }
    cursor = found.size() >= limit ? cursorOf(found) : null;
  }

  private static @Nullable ClaimCursor cursorOf(List<Claimed> found) {
    Claimed last = found.get(found.size() - 1);
    for (Claimed claimed : found) {
      // Only ranges without keys are taken in the order of their ids.
      if (claimed.lane() != 0 || claimed.routeId() != last.routeId()) {
        return null;
      }
    }
    return new ClaimCursor(last.routeId(), last.lane(), last.message().id());
  }
}
