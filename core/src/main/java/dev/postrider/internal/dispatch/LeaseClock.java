package dev.postrider.internal.dispatch;

import java.time.Duration;

/**
 * How long a claim may still be relied on, by this process's monotonic clock: counted from before
 * the claim was asked for, so never longer than the database sees it. Thread-safe.
 */
public final class LeaseClock {
  private final long token;
  private volatile long untilNanos;

  public LeaseClock(long token, long askedAtNanos, Duration lease) {
    this.token = token;
    this.untilNanos = askedAtNanos + lease.toNanos();
  }

  public long token() {
    return token;
  }

  public void renewed(long askedAtNanos, Duration lease) {
    untilNanos = askedAtNanos + lease.toNanos();
  }

  /** Somebody else has it: nothing more is sent under it. */
  public void lost() {
    untilNanos = System.nanoTime() - 1;
  }

  public Duration left(long nowNanos) {
    return Duration.ofNanos(untilNanos - nowNanos);
  }

  boolean holds(long nowNanos) {
    return untilNanos - nowNanos > 0;
  }
}
