package dev.postrider.server.api;

import java.time.Duration;
import java.time.Instant;

/** Which times and durations make sense. Beyond them Java and PostgreSQL do not agree. */
final class Times {
  /** A hundred years. */
  static final Duration LONGEST = Duration.ofDays(36_500);

  private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
  private static final Instant END = Instant.parse("9999-12-31T23:59:59.999999Z");

  private Times() {}

  static boolean storable(Instant time) {
    return !time.isBefore(FIRST) && !time.isAfter(END);
  }
}
