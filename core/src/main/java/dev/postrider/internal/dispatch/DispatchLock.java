package dev.postrider.internal.dispatch;

import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The lock of one dispatcher. After each piece of work it calls the sinks, without the lock, and
 * wakes the sender if there is something to send. Thread-safe.
 */
final class DispatchLock {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Sinks sinks;
  private final BooleanSupplier senderHasWork;

  DispatchLock(Sinks sinks, BooleanSupplier senderHasWork) {
    this.sinks = sinks;
    this.senderHasWork = senderHasWork;
  }

  void run(Runnable work) {
    boolean unused =
        get(
            () -> {
              work.run();
              return true;
            });
  }

  <T> T get(Supplier<T> work) {
    List<Runnable> calls;
    T result;
    lock.lock();
    try {
      result = work.get();
      // Work inside other work leaves them to that: sinks are not called under the lock.
      calls = lock.getHoldCount() == 1 ? sinks.takeCalls() : List.of();
      // Not at every answer: waking a thread for nothing costs more than the answer itself.
      if (senderHasWork.getAsBoolean()) {
        changed.signal();
      }
    } finally {
      lock.unlock();
    }
    calls.forEach(Runnable::run);
    return result;
  }

  /** Waits until the sender has something to do, and begins it. For the sender's thread. */
  <T> T awaitWork(Supplier<T> begin) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!senderHasWork.getAsBoolean()) {
        changed.await();
      }
      return begin.get();
    } finally {
      lock.unlock();
    }
  }
}
