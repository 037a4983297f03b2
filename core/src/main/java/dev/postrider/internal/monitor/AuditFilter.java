package dev.postrider.internal.monitor;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Conditions on entries of the audit log; what is null does not matter. Immutable.
 *
 * @param from from this time on
 * @param to before this time
 */
public record AuditFilter(
    @Nullable String actor, @Nullable String action, @Nullable Instant from, @Nullable Instant to) {
  /** Every entry. */
  public static final AuditFilter ALL = new AuditFilter(null, null, null, null);
}
