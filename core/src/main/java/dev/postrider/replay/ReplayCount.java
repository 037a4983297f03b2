package dev.postrider.replay;

/**
 * What a replay would do, as counted at the time. Immutable.
 *
 * @param matched messages that meet the conditions
 * @param skipped those of them that are not delivered and would be left alone
 */
public record ReplayCount(long matched, long skipped) {
  /** How many would be sent again. */
  public long requeued() {
    return matched - skipped;
  }
}
