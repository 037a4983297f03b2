package dev.postrider.claim;

import dev.postrider.message.Claimed;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides where the next claim starts. A claim from the front sees everything, but it also walks
 * over rows delivered just before, or, while somebody holds an old snapshot, over every row
 * delivered since. So after a full claim the next ones go on where it ended, with keys in the next
 * lane, and claims from the front get at most about a tenth of the time: a message that committed
 * late waits for ten such walks at most. Not thread-safe.
 */
public final class ClaimPath {
  private static final int SHARE = 10;

  /** As in the claim itself: keys do not fill a batch to the last message. */
  private static final int NEARLY_FULL = 8;

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
    cursor = found.isEmpty() ? null : cursorOf(found, limit);
  }

  /** A claim that found less than it wanted has seen all there is. */
  private static @Nullable ClaimCursor cursorOf(List<Claimed> found, int limit) {
    Claimed last = found.get(found.size() - 1);
    boolean ordered = last.ordered();
    int full = ordered ? limit - limit / NEARLY_FULL : limit;
    boolean oneRange =
        found.stream().allMatch(c -> c.ordered() == ordered && c.routeId() == last.routeId());
    return found.size() >= full && oneRange
        ? new ClaimCursor(last.routeId(), last.lane(), last.message().id())
        : null;
  }
}
