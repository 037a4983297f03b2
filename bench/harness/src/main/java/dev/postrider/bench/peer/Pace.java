package dev.postrider.bench.peer;

import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Sends at a steady pace from one thread. */
final class Pace {
  private Pace() {}

  /** When the commit of each order began, with commas. */
  static String send(Peer.Session session, int count, long periodNanos) throws Exception {
    long[] sentNanos = new long[count];
    long next = System.nanoTime();
    for (int i = 0; i < count; i++) {
      next += periodNanos;
      while (System.nanoTime() < next) {
        LockSupport.parkNanos(next - System.nanoTime());
      }
      Order order = new Order(i);
      session.send(order);
      sentNanos[i] = order.committingNanos();
    }
    return LongStream.of(sentNanos).mapToObj(Long::toString).collect(Collectors.joining(","));
  }
}
