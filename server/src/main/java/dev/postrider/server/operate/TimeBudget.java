package dev.postrider.server.operate;

import java.time.Duration;
import java.util.function.LongPredicate;

/**
 * Lets work on many go on for as long as a caller may be kept waiting; the rest is for the next
 * call. For one call.
 */
final class TimeBudget implements LongPredicate {
  private static final Duration MAX = Duration.ofSeconds(15);
  private final long endNanos = System.nanoTime() + MAX.toNanos();
  private boolean over;

  @Override
  public boolean test(long count) {
    over = System.nanoTime() - endNanos > 0;
    return !over;
  }

  /** Whether it was stopped before its end. */
  boolean over() {
    return over;
  }
}
