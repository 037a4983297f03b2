package dev.postrider.verify.chaos;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for conditions. */
final class Until {
  private Until() {}

  /** Returns when the condition holds. Fails after the limit. */
  static void holds(Duration limit, String what, BooleanSupplier condition) {
    if (!held(limit, condition)) {
      throw new IllegalStateException("not within " + limit + ": " + what);
    }
  }

  /** Returns whether the condition held within the limit. */
  static boolean held(Duration limit, BooleanSupplier condition) {
    long end = System.nanoTime() + limit.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        return false;
      }
      LockSupport.parkNanos(20_000_000);
    }
    return true;
  }
}
