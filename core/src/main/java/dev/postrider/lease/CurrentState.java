package dev.postrider.lease;

import dev.postrider.message.MessageState;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The state that a message was found in, in one of its subscriptions. Immutable.
 *
 * @param subscription empty for the default one
 * @param nextAttemptAt null while processing and at the end; {@link Instant#MAX} while it waits for
 *     another message of its key
 */
public record CurrentState(
    UUID id,
    String subscription,
    MessageState state,
    int attempts,
    int delivery,
    @Nullable Instant nextAttemptAt,
    @Nullable String lockedBy,
    @Nullable Instant lockedUntil,
    @Nullable String lastError) {

  static CurrentState read(ResultSet row) throws SQLException {
    return new CurrentState(
        row.getObject("id", UUID.class),
        row.getString("subscription"),
        MessageState.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
        row.getInt("attempts"),
        row.getInt("delivery"),
        instant(row.getObject("next_attempt_at", OffsetDateTime.class)),
        row.getString("locked_by"),
        instant(row.getObject("locked_until", OffsetDateTime.class)),
        row.getString("last_error"));
  }

  private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
    if (time == null) {
      return null;
    }
    // The driver's word for infinity.
    return time.equals(OffsetDateTime.MAX) ? Instant.MAX : time.toInstant();
  }
}
