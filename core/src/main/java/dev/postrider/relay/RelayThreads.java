package dev.postrider.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The threads of one relay: those that carry messages, and the others. Thread-safe. */
final class RelayThreads {
  private final List<Thread> carriers = new CopyOnWriteArrayList<>();
  private final List<Thread> others = new CopyOnWriteArrayList<>();

  void startCarrier(Carrier carrier) {
    start(carriers, carrier, "carry-" + (carriers.size() + 1));
  }

  void start(Runnable task, String name) {
    start(others, task, name);
  }

  private static void start(List<Thread> threads, Runnable task, String name) {
    Thread thread = new Thread(task, "postrider-" + name);
    threads.add(thread);
    thread.start();
  }

  /** Whether messages are carried. Threads that only look after the database do not count. */
  boolean carrying() {
    return carriers.stream().anyMatch(Thread::isAlive);
  }

  void joinCarriers(Duration timeout) {
    join(carriers, timeout);
  }

  /** Interrupts all and waits for their end. */
  void end(Duration timeout) {
    List<Thread> all = new ArrayList<>(carriers);
    all.addAll(others);
    all.forEach(Thread::interrupt);
    join(all, timeout);
  }

  private static void join(List<Thread> joined, Duration timeout) {
    long end = System.nanoTime() + timeout.toNanos();
    try {
      for (Thread thread : joined) {
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left > 0) {
          thread.join(left);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
