package dev.postrider.internal.retention;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * What relays did for one task. Immutable.
 *
 * @param period the retention that was used last
 * @param finishedAt when a run came to its end; null: never
 * @param failedAt when the last run failed; null: it did not
 * @param lastRemoved rows that the last run removed
 * @param removed rows that were ever removed
 */
public record RetentionState(
    String task,
    Duration period,
    Instant startedAt,
    @Nullable Instant finishedAt,
    @Nullable Instant failedAt,
    @Nullable String error,
    long lastRemoved,
    long removed) {
  private static final String LIST =
      """
      select task, extract(epoch from period)::bigint as seconds, started_at, finished_at, failed_at,
             error, last_removed, removed
        from postrider.retention order by task
      """;

  /** Every task that a relay has ever started, by name. */
  public static List<RetentionState> list(DataSource dataSource, Schema schema)
      throws SQLException {
    return new Database(dataSource, schema).list(LIST, RetentionState::read);
  }

  private static RetentionState read(ResultSet row) throws SQLException {
    return new RetentionState(
        row.getString("task"),
        Duration.ofSeconds(row.getLong("seconds")),
        Objects.requireNonNull(Database.instant(row, "started_at")),
        Database.instant(row, "finished_at"),
        Database.instant(row, "failed_at"),
        row.getString("error"),
        row.getLong("last_removed"),
        row.getLong("removed"));
  }
}
