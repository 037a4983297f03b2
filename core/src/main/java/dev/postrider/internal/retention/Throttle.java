package dev.postrider.internal.retention;

import java.time.Duration;

/**
 * Keeps the work in the background: steps of 15 to 50 milliseconds where their rows allow it, and a
 * pause of nine times that after each, but of five seconds at most. Used by one thread.
 */
final class Throttle {
  private static final int REST = 9;
  private static final Duration PAUSE_MIN = Duration.ofMillis(10);
  private static final Duration PAUSE_MAX = Duration.ofSeconds(5);
  private static final Duration LONG = Duration.ofMillis(50);
  private static final Duration SHORT = Duration.ofMillis(15);
  private static final int ROWS_MIN = 100;
  private static final int ROWS_MAX = 4_000;

  private int rows = 500;

  /** How many rows the next step should take. */
  int rows() {
    return rows;
  }

  /** Says how long a step took; returns how long to pause after it. */
  Duration after(Duration took) {
    if (took.compareTo(LONG) > 0) {
      rows = Math.max(ROWS_MIN, rows / 2);
    } else if (took.compareTo(SHORT) < 0) {
      rows = Math.min(ROWS_MAX, rows * 2);
    }
    Duration rest = took.multipliedBy(REST);
    if (rest.compareTo(PAUSE_MAX) > 0) {
      return PAUSE_MAX;
    }
    return rest.compareTo(PAUSE_MIN) < 0 ? PAUSE_MIN : rest;
  }
}
