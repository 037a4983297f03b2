package dev.postrider.lease;

import dev.postrider.message.Settlement.Decision;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What is to become of held messages: the arguments of {@code postrider.settle_held}. */
record HeldSettlement(
    Decision decision,
    @Nullable Duration delay,
    @Nullable Instant dueAt,
    @Nullable String error,
    @Nullable String reference) {
  /** The log of attempts is no place for whole response bodies. */
  private static final int TEXT_MAX = 2000;

  static HeldSettlement of(Decision decision) {
    return new HeldSettlement(decision, null, null, null, null);
  }

  HeldSettlement withError(String value) {
    return new HeldSettlement(decision, delay, dueAt, cut(value), reference);
  }

  HeldSettlement withReference(@Nullable String value) {
    return new HeldSettlement(decision, delay, dueAt, error, cut(value));
  }

  HeldSettlement at(Instant value) {
    return new HeldSettlement(decision, null, value, error, reference);
  }

  HeldSettlement after(Duration value) {
    return new HeldSettlement(decision, value, null, error, reference);
  }

  String what() {
    return decision.name().toLowerCase(Locale.ROOT);
  }

  @Nullable FlushOutcome outcome() {
    return switch (decision) {
      case DELIVERED -> FlushOutcome.SUCCESS;
      case RETRY -> FlushOutcome.RETRY;
      case DEAD, DEAD_BLOCKING -> FlushOutcome.DEAD;
      case RELEASED, DEFERRED -> null;
    };
  }

  /** Outcome, delay, code, error, reference, due time. */
  void bind(PreparedStatement call, int first) throws SQLException {
    call.setShort(first, decision.number());
    if (delay == null) {
      call.setNull(first + 1, Types.BIGINT);
    } else {
      call.setLong(first + 1, delay.toMillis());
    }
    call.setNull(first + 2, Types.VARCHAR);
    call.setString(first + 3, error);
    call.setString(first + 4, reference);
    if (dueAt == null) {
      call.setNull(first + 5, Types.TIMESTAMP_WITH_TIMEZONE);
    } else {
      call.setObject(first + 5, dueAt.atOffset(ZoneOffset.UTC));
    }
  }

  private static @Nullable String cut(@Nullable String text) {
    if (text == null) {
      return null;
    }
    // A text column takes no zero bytes.
    String clean = text.replace('\0', ' ');
    return clean.length() <= TEXT_MAX ? clean : clean.substring(0, TEXT_MAX);
  }
}
