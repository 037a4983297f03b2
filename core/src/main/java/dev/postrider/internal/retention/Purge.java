package dev.postrider.internal.retention;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.jdbc.Database.Session;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.LongPredicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Removes old rows at once, for an operator; {@link Retention} does the same by itself. Small
 * steps, each in its own transaction. Never archives: messages that are purged are gone. Where
 * messages are archived it refuses to remove them. Thread-safe if the data source is.
 */
public final class Purge {
  private static final String STEP =
      "select * from postrider.purge(?, ?, ?::interval, ?, ?::text, ?::bigint)";
  private static final String OPTIONAL = "select postrider.archive_require(?, false)";
  private static final int ROWS = 3_000;

  private final Database database;

  public Purge(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /**
   * Removes what is older than the period, which is at least an hour, for the audit 30 days.
   *
   * @param goOn told the rows removed so far after each step; false stops
   * @return rows removed
   */
  public long run(String actor, RetentionTask task, Duration period, LongPredicate goOn)
      throws SQLException {
    RefusedException.ifBlank("actor", actor);
    long removed = 0;
    Step step = new Step(null, null, 0, false);
    String age = period.toString();
    try (Session session = database.open()) {
      do {
        step =
            session.one(
                STEP, Purge::step, actor, task.label(), age, ROWS, step.position, step.audit);
        removed += step.removed;
      } while (goOn.test(removed) && !step.done);
    }
    return removed;
  }

  /**
   * Lets messages be removed without an archive again. From the first archive run on, the database
   * refuses that.
   *
   * @return false if it was so already
   */
  public boolean archiveOptional(String actor) throws SQLException {
    RefusedException.ifBlank("actor", actor);
    return database.one(OPTIONAL, row -> row.getBoolean(1), actor);
  }

  private record Step(
      @Nullable String position, @Nullable Long audit, long removed, boolean done) {}

  private static Step step(ResultSet row) throws SQLException {
    return new Step(
        row.getString("p_position"),
        row.getObject("p_audit", Long.class),
        row.getLong("removed"),
        row.getBoolean("done"));
  }
}
