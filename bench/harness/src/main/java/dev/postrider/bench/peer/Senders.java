package dev.postrider.bench.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** Threads that send one order after the other through one session. Used by one thread. */
final class Senders implements AutoCloseable {
  static final int LOADERS = 4;

  private final Peer.Session session;
  private final int count;
  private final ExecutorService threads;
  private final AtomicLong next = new AtomicLong();

  Senders(Peer.Session session, int count) {
    this.session = session;
    this.count = count;
    this.threads = Executors.newFixedThreadPool(count);
  }

  /** Sends the orders 0 to orders - 1. */
  void send(long orders) throws Exception {
    sendUntil(orders, Long.MAX_VALUE);
  }

  /** Sends for so long and returns how many were committed. */
  long sendFor(long nanos) throws Exception {
    return sendUntil(Long.MAX_VALUE, System.nanoTime() + nanos);
  }

  private long sendUntil(long orders, long deadlineNanos) throws Exception {
    List<Future<Long>> running = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      running.add(threads.submit(() -> loop(orders, deadlineNanos)));
    }
    long sent = 0;
    for (Future<Long> thread : running) {
      try {
        sent += thread.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("a sender failed: " + e.getCause(), e.getCause());
      }
    }
    return sent;
  }

  private long loop(long orders, long deadlineNanos) throws Exception {
    long sent = 0;
    while (System.nanoTime() < deadlineNanos) {
      long number = next.getAndIncrement();
      if (number >= orders) {
        break;
      }
      session.send(new Order(number));
      sent++;
    }
    return sent;
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
