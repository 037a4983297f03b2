package dev.postrider.internal.claim;

import dev.postrider.internal.claim.ClaimRequest.Start;
import org.jspecify.annotations.Nullable;

/**
 * Decides where the next claim for a destination starts. A full claim is followed by one that goes
 * on where it ended. To look from the front costs little, unless somebody holds an old snapshot:
 * then every row delivered since is still in the index, and is walked over. So that gets at most
 * about a tenth of the time; a message that committed late waits for ten such walks at most. Each
 * carrier has its own, so that two of them do not meet at the same keys. Not thread-safe.
 */
public final class ClaimPath {
  private static final int SHARE = 10;

  private @Nullable String cursor;
  private boolean full;
  private long nextSearchNanos;
  private long nextFrontNanos;

  public Start start(long nowNanos) {
    if (cursor == null || !full) {
      return new Start(cursor, true, true);
    }
    return new Start(cursor, nowNanos - nextSearchNanos >= 0, nowNanos - nextFrontNanos >= 0);
  }

  /** Takes note of what a claim found. */
  public void took(
      ClaimResult result, Start from, boolean wasFull, long startNanos, long endNanos) {
    cursor = result.cursor();
    full = wasFull;
    if (from.search()) {
      nextSearchNanos = endNanos + SHARE * result.search().toNanos();
    }
    if (from.front()) {
      nextFrontNanos = endNanos + SHARE * (endNanos - startNanos);
    }
  }
}
