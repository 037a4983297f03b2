package dev.postrider.lease;

import dev.postrider.error.DatabaseError;
import java.util.Locale;

/** What a call to the lease store came to: each is logged and counted under its code. Immutable. */
public enum FlushOutcome {
  SUCCESS,
  RETRY,
  DEAD,
  /** The caller no longer holds the message; nothing was changed. */
  CONFLICT,
  /** The same content was delivered to the same target before. */
  DEDUP_HIT,
  DB_TIMEOUT,
  DB_ERROR;

  /** The name in logs and metrics, such as {@code outbox_flush_success}. */
  public String code() {
    return "outbox_flush_" + name().toLowerCase(Locale.ROOT);
  }

  /** Whether somebody should look at it. */
  boolean isTrouble() {
    return this != SUCCESS && this != RETRY && this != DEDUP_HIT;
  }

  static FlushOutcome of(DatabaseError error) {
    return error == DatabaseError.TIMEOUT ? DB_TIMEOUT : DB_ERROR;
  }
}
