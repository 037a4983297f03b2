package dev.postrider.retention;

import java.time.Duration;
import java.util.Locale;

/** What is removed after a while. Each task has a period of its own. Immutable. */
public enum RetentionTask {
  /**
   * Messages that were delivered or discarded, by the time in their ids, and their attempts. With
   * an archive they go there first.
   */
  MESSAGES(60),
  /** Dedupe keys: afterwards the same key can be enqueued again. */
  DEDUPE_KEYS(90),
  /** What consumers handled: afterwards a message that arrives again is handled again. */
  INBOX(90),
  /** Events of the stream, which clients can read until then. */
  STREAM(3),
  /** Dead letters that were requeued or discarded. */
  DEAD_LETTERS(60),
  /** What operators did. */
  AUDIT(365),
  /** Replay jobs that are done or stopped. */
  REPLAY_JOBS(90),
  /** Relays that stopped or were not seen for so long. */
  WORKERS(90),
  /** Contents that were delivered with a remote reference. */
  DELIVERED_CONTENT(90),
  /**
   * Ordering keys that were not used for so long and have no message left in the log. A key that
   * comes back continues above every number it ever had.
   */
  ORDERING_KEYS(90);

  private final Duration usual;

  RetentionTask(int days) {
    this.usual = Duration.ofDays(days);
  }

  /** The period unless another one is given. */
  public Duration defaultPeriod() {
    return usual;
  }

  /** The name in the database, in metrics and in the log. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
