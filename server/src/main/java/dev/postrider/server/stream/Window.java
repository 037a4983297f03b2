package dev.postrider.server.stream;

import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The newest events, shared by all clients: each has only its position in it. Bounded by count and
 * bytes; whoever is still before its beginning when that moves on has fallen behind. Thread-safe.
 */
final class Window {
  private final @Nullable Entry[] ring;
  private final long bytesMax;
  private long bytes;
  private long first = 1;
  private long last = -1;

  Window(int events, long bytesMax) {
    this.ring = new @Nullable Entry[events];
    this.bytesMax = bytesMax;
  }

  /** Starts anew, with everything up to this position behind it. */
  synchronized void startAt(long position) {
    Arrays.fill(ring, null);
    bytes = 0;
    first = position + 1;
    last = position;
    notifyAll();
  }

  /** Waits until there is anything to be asked; false if that takes too long. */
  synchronized boolean awaitStart(Duration patience) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    long left = patience.toMillis();
    while (last < 0 && left > 0) {
      wait(left);
      left = (end - System.nanoTime()) / 1_000_000;
    }
    return last >= 0;
  }

  /** The newest position, all of which has been added. */
  synchronized long last() {
    return last;
  }

  /** Positions come without gaps. */
  synchronized void add(Entry entry) {
    if (last - first + 1 == ring.length) {
      dropFirst();
    }
    last++;
    ring[place(last)] = entry;
    bytes += entry.size();
    // One event is kept, however large: clients that keep up must find it here.
    while (bytes > bytesMax && first < last) {
      dropFirst();
    }
  }

  private void dropFirst() {
    int place = place(first);
    bytes -= Objects.requireNonNull(ring[place]).size();
    ring[place] = null;
    first++;
  }

  /** Whether all that comes after the position is here or still to come. */
  synchronized boolean covers(long position) {
    return position >= first - 1;
  }

  /** The event after the position; null if it is yet to come, or no longer here. */
  synchronized @Nullable Entry after(long position) {
    return position >= last || position < first - 1 ? null : ring[place(position + 1)];
  }

  private int place(long position) {
    return (int) (position % ring.length);
  }
}
