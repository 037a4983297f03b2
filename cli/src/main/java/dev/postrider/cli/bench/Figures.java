package dev.postrider.cli.bench;

import java.time.Duration;
import java.util.Arrays;

/**
 * What was measured. Immutable.
 *
 * @param commits transactions a second that write nothing but their commit
 * @param enqueues transactions a second with one message each
 * @param batched messages a second, a hundred in a transaction
 * @param drained messages a second that a relay carried to a destination that answers at once
 * @param latencies from the start of the commit to the destination, ascending
 * @param messages how many were written in all
 */
public record Figures(
    double commits,
    double enqueues,
    double batched,
    double drained,
    Latencies latencies,
    long messages) {

  /** Times, sorted. Immutable. */
  public static final class Latencies {
    private final long[] nanos;

    Latencies(long[] nanos) {
      this.nanos = nanos.clone();
      Arrays.sort(this.nanos);
    }

    /** The time that so many percent did not exceed. */
    public Duration percentile(int percent) {
      int index = (int) Math.ceil(nanos.length * percent / 100.0) - 1;
      return Duration.ofNanos(nanos[Math.max(index, 0)]);
    }
  }

  /** How much of the rate of bare commits is left with a message in each. */
  public double kept() {
    return enqueues / commits;
  }

  /** Above one the relay is faster than a producer that writes in batches. */
  public double headroom() {
    return drained / batched;
  }
}
