package dev.postrider.internal.wake;

import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a relay's thread sleeps on. Signals that come while it works are kept, each reason once, so
 * a burst of notifications is one wakeup. Thread-safe.
 */
public final class Wakeup {
  /** Why a thread woke. */
  public enum Reason {
    /** A producer rang the doorbell. */
    NOTIFY,
    /** A producer in this process said so after its commit. */
    LOCAL,
    /** A destination answered. */
    ANSWER,
    /** Another thread of this relay has more work than it can take. */
    HELP,
    /** Routes or pauses changed. */
    CONTROL,
    /** The relay is stopping. */
    STOP;

    public String label() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition signalled = lock.newCondition();
  private final EnumSet<Reason> reasons = EnumSet.noneOf(Reason.class);
  private final Map<Reason, Long> later = new EnumMap<>(Reason.class);

  public void signal(Reason reason) {
    lock.lock();
    try {
      if (reasons.add(reason)) {
        signalled.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Signals after a delay. Of several delayed signals with one reason the first counts. A signal
   * without a delay replaces it.
   */
  public void signalAfter(Reason reason, Duration delay) {
    lock.lock();
    try {
      if (!reasons.contains(reason)) {
        later.putIfAbsent(reason, System.nanoTime() + delay.toNanos());
        signalled.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a signal or the time; returns what came, empty if nothing did. */
  public Set<Reason> await(Duration timeout) throws InterruptedException {
    lock.lock();
    try {
      long end = System.nanoTime() + timeout.toNanos();
      while (reasons.isEmpty()) {
        long now = System.nanoTime();
        long next = end;
        for (long due : later.values()) {
          next = due - next < 0 ? due : next;
        }
        if (next - now <= 0) {
          break;
        }
        long unused = signalled.awaitNanos(next - now);
      }
      return take();
    } finally {
      lock.unlock();
    }
  }

  /** What came since the last look, without waiting. */
  public Set<Reason> poll() {
    lock.lock();
    try {
      return take();
    } finally {
      lock.unlock();
    }
  }

  private Set<Reason> take() {
    long now = System.nanoTime();
    later.forEach(
        (reason, due) -> {
          if (due - now <= 0) {
            reasons.add(reason);
          }
        });
    Set<Reason> taken = EnumSet.copyOf(reasons);
    later.keySet().removeAll(taken);
    reasons.clear();
    return taken;
  }

  /** Waits for the time, or less if STOP comes; other signals are kept. */
  public void pause(Duration time) throws InterruptedException {
    lock.lock();
    try {
      long left = time.toNanos();
      while (!reasons.remove(Reason.STOP) && left > 0) {
        left = signalled.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
