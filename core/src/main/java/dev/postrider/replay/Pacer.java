package dev.postrider.replay;

import dev.postrider.error.RefusedException;
import java.time.Duration;
import java.util.function.LongSupplier;

/** Keeps a replay to its rate. Not thread-safe: one for each run. */
public final class Pacer {
  private static final int MOST = 500;

  private final double perSecond;
  private final LongSupplier nanoClock;
  private final Sleeper sleeper;
  private long due;

  /** Waits; a test's one only notes it. */
  @FunctionalInterface
  public interface Sleeper {
    void sleep(Duration time) throws InterruptedException;
  }

  /** As fast as the database takes it. */
  public static Pacer unlimited() {
    return perSecond(Double.POSITIVE_INFINITY);
  }

  public static Pacer perSecond(double messages) {
    return new Pacer(messages, System::nanoTime, time -> Thread.sleep(time.toMillis()));
  }

  /** With a clock and a way to wait of the caller's own. */
  public Pacer(double perSecond, LongSupplier nanoClock, Sleeper sleeper) {
    if (!(perSecond > 0)) {
      throw new RefusedException("rate must be above 0 messages per second, got " + perSecond);
    }
    this.perSecond = perSecond;
    this.nanoClock = nanoClock;
    this.sleeper = sleeper;
    this.due = nanoClock.getAsLong();
  }

  /** How many may go in one step: about half a second's worth, so that none makes a burst. */
  int step() {
    return (int) Math.max(1, Math.min(MOST, perSecond / 2));
  }

  /** Notes that so many were sent; returns how long to wait, so that the rate is kept. */
  Duration sent(long messages) {
    long now = nanoClock.getAsLong();
    due = Math.max(due, now) + (long) (messages * 1e9 / perSecond);
    return Duration.ofNanos(Math.max(0, due - now));
  }

  void sleep(Duration time) throws InterruptedException {
    if (!time.isZero()) {
      sleeper.sleep(time);
    }
  }
}
