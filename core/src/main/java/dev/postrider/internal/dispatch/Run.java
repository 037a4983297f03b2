package dev.postrider.internal.dispatch;

import dev.postrider.destination.Destination;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one key in one claim. The next go to the destination when all that went before
 * are delivered, and none does after one that failed. Guarded by the dispatcher's lock.
 */
final class Run {
  /** A part of a run takes at most this share of what may be with the destination. */
  private static final int SHARE = 4;

  private static final int MESSAGES_MOST = 1_000;
  private static final int MESSAGES_LEAST = 16;

  /** Those that wait for the ones before them. */
  final Deque<DispatchItem> behind = new ArrayDeque<>();

  /** How many are with the destination. */
  int sent;

  /** Whether one of them did not arrive. */
  boolean broken;

  /** Calls for those that are delivered and not yet reported to their sink. */
  final List<Runnable> unreported = new ArrayList<>();

  /** When the first of those was delivered. */
  long unreportedSinceNanos;

  /** How many messages a part may have, if so many may be with the destination. */
  static int mostMessages(int concurrency) {
    return Math.max(MESSAGES_LEAST, Math.min(MESSAGES_MOST, concurrency / SHARE));
  }

  /** How many bytes a part may have, if so many may be with the destination. */
  static long mostBytes(long maxBytes) {
    return maxBytes / SHARE;
  }

  /**
   * Takes the next message if it may be in one batch with the one before it. Otherwise it waits for
   * the answers of the whole batch: order is kept within a batch only.
   *
   * @param bytesMost how large it may be
   */
  @Nullable DispatchItem takeFollower(
      DispatchItem before, long bytesMost, Copies copies, Destination destination) {
    DispatchItem next = behind.peek();
    return next == null
            || next.claimed.bytes() > bytesMost
            || copies.isSent(next)
            || !mayFollow(before, next, destination)
        ? null
        : behind.remove();
  }

  /** The next few messages behind these, which the sender has not checked yet. */
  static List<DispatchItem> unchecked(List<DispatchItem> heads, int mostPerRun) {
    List<DispatchItem> unchecked = new ArrayList<>();
    for (DispatchItem head : heads) {
      if (head.run != null) {
        head.run.behind.stream()
            .limit(mostPerRun)
            .filter(item -> !item.checked)
            .forEach(unchecked::add);
      }
    }
    return unchecked;
  }

  private static boolean mayFollow(
      DispatchItem before, DispatchItem next, Destination destination) {
    try {
      return destination.mayFollow(before.claimed.message(), next.claimed.message());
    } catch (RuntimeException e) {
      return false;
    }
  }
}
