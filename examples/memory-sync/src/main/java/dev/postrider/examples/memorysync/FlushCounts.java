package dev.postrider.examples.memorysync;

import dev.postrider.lease.FlushOutcome;
import dev.postrider.lease.LeaseOptions;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts outcomes; a service would give them to its metrics. Thread-safe. */
final class FlushCounts implements LeaseOptions.Listener {
  private final Map<FlushOutcome, Long> counts = new ConcurrentHashMap<>();

  @Override
  public void flushed(FlushOutcome outcome, int count) {
    counts.merge(outcome, (long) count, Long::sum);
  }

  long of(FlushOutcome outcome) {
    return counts.getOrDefault(outcome, 0L);
  }
}
