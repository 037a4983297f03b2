package dev.postrider.observe;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.Set;

/**
 * Counts what calls to the lease store came to, in a Micrometer registry. For processes that run a
 * loop on the lease store. Thread-safe.
 */
public final class FlushMeters {
  private static final String PREFIX = "outbox_flush_";
  private static final Set<String> OUTCOMES =
      Set.of("success", "retry", "dead", "conflict", "dedup_hit", "db_timeout", "db_error");

  private final TagMeters flushes;

  public FlushMeters(MeterRegistry registry) {
    this.flushes =
        TagMeters.of(registry, "outbox.flush", "Calls to the lease store", "outcome", OUTCOMES);
  }

  /**
   * Counts calls.
   *
   * @param code such as {@code dedup_hit}, with or without its prefix {@code outbox_flush_}
   */
  public void flushed(String code, int count) {
    flushes.increment(code.startsWith(PREFIX) ? code.substring(PREFIX.length()) : code, count);
  }
}
