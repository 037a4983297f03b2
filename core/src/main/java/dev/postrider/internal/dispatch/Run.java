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
