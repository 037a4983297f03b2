package dev.postrider.internal.monitor;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.message.AttemptState;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What one attempt came to. Immutable.
 *
 * @param subscription its number within the topic, 0 for the default subscription
 * @param worker the number of the relay's worker that made it; null if none did
 */
public record Attempt(
    UUID messageId,
    int subscription,
    int delivery,
    int no,
    AttemptState state,
    Instant finishedAt,
    @Nullable Integer latencyMs,
    @Nullable String code,
    @Nullable Integer worker) {
  /** Stored by their places in it. */
  private static final AttemptState[] STATES = AttemptState.values();

  static Attempt read(ResultSet row) throws SQLException {
    return new Attempt(
        row.getObject("message_id", UUID.class),
        row.getInt("subscription"),
        row.getInt("delivery"),
        row.getInt("no"),
        STATES[row.getInt("state")],
        Objects.requireNonNull(Database.instant(row, "finished_at")),
        row.getObject("latency_ms", Integer.class),
        row.getString("code"),
        row.getObject("worker", Integer.class));
  }
}
