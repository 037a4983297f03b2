package dev.postrider.destination;

import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Limits for one destination. Immutable.
 *
 * @param concurrency messages handed over and not yet answered
 * @param maxInFlight messages claimed for it and not yet settled: bounds memory
 * @param maxBytesInFlight payload bytes of those
 * @param timeout for one message, from handing over to answer
 * @param breaker when to stop trying for a while
 */
public record DestinationOptions(
    int concurrency,
    int maxInFlight,
    long maxBytesInFlight,
    Duration timeout,
    BreakerOptions breaker) {

  public static final DestinationOptions DEFAULT =
      new DestinationOptions(1000, 4000, 16L << 20, Duration.ofSeconds(30), BreakerOptions.DEFAULT);

  /**
   * When to stop trying for a while, the destination as a whole or one of its targets.
   *
   * @param failures in a row that open the breaker
   * @param openMin first pause before a probe; doubles with each failed one
   * @param openMax longest pause
   */
  public record BreakerOptions(int failures, Duration openMin, Duration openMax) {
    public static final BreakerOptions DEFAULT =
        new BreakerOptions(20, Duration.ofSeconds(1), Duration.ofSeconds(30));
  }

  public DestinationOptions {
    List<String> wrong = new ArrayList<>();
    check(wrong, concurrency >= 1 && concurrency <= 100_000, "concurrency 1..100000", concurrency);
    check(wrong, maxInFlight >= 1 && maxInFlight <= 100_000, "maxInFlight 1..100000", maxInFlight);
    check(wrong, maxBytesInFlight >= 1, "maxBytesInFlight of at least 1", maxBytesInFlight);
    check(wrong, positive(timeout), "timeout of 1 ms..1 h", timeout);
    check(wrong, breaker.failures() >= 1, "breaker.failures of at least 1", breaker.failures());
    check(wrong, positive(breaker.openMin()), "breaker.openMin of 1 ms..1 h", breaker.openMin());
    check(
        wrong,
        breaker.openMax().compareTo(breaker.openMin()) >= 0,
        "breaker.openMax of at least openMin",
        breaker.openMax());
    if (!wrong.isEmpty()) {
      throw new PostriderException("destination options: " + String.join("; ", wrong));
    }
  }

  private static boolean positive(Duration value) {
    return value.toMillis() >= 1 && value.compareTo(Duration.ofHours(1)) <= 0;
  }

  private static void check(List<String> wrong, boolean ok, String expected, Object given) {
    if (!ok) {
      wrong.add("expected " + expected + ", got " + given);
    }
  }

  public DestinationOptions withConcurrency(int value) {
    return new DestinationOptions(value, maxInFlight, maxBytesInFlight, timeout, breaker);
  }

  public DestinationOptions withMaxInFlight(int value) {
    return new DestinationOptions(concurrency, value, maxBytesInFlight, timeout, breaker);
  }

  public DestinationOptions withMaxBytesInFlight(long value) {
    return new DestinationOptions(concurrency, maxInFlight, value, timeout, breaker);
  }

  public DestinationOptions withTimeout(Duration value) {
    return new DestinationOptions(concurrency, maxInFlight, maxBytesInFlight, value, breaker);
  }

  public DestinationOptions withBreaker(BreakerOptions value) {
    return new DestinationOptions(concurrency, maxInFlight, maxBytesInFlight, timeout, value);
  }
}
