package dev.postrider.archive;

import dev.postrider.store.Database;
import dev.postrider.store.Database.Session;
import dev.postrider.store.RefusedException;
import dev.postrider.store.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.LongPredicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Forgets what was only remembered to recognise duplicates. The audit is never purged. Runs through
 * the table a few pages at a time, each in its own transaction. Thread-safe if the data source is.
 */
public final class Purge {
  private static final String STEP =
      "select * from postrider.purge(?, ?, ?::interval, ?, ?, ?::bigint)";
  private static final int PAGES = 64;

  private final Database database;

  /** What can be purged. */
  public enum Target {
    /** Dedupe keys: after this, the same key can be enqueued again. */
    DEDUPE("dedupe"),
    /** Handled messages: after this, one that arrives again is handled again. */
    INBOX("inbox"),
    /** Contents that were delivered with a remote reference. */
    DELIVERED_CONTENT("delivered_content");

    private final String table;

    Target(String table) {
      this.table = table;
    }
  }

  public Purge(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /**
   * Removes what is older than the retention, which is at least an hour.
   *
   * @param goOn told the rows removed so far after each step; false stops
   * @return rows removed
   */
  public long run(String actor, Target target, Duration retention, LongPredicate goOn)
      throws SQLException {
    RefusedException.ifBlank("actor", actor);
    long removed = 0;
    Step step = new Step(0, null, 0, false);
    String age = retention.toString();
    try (Session session = database.open()) {
      do {
        step =
            session.one(STEP, Purge::step, actor, target.table, age, PAGES, step.page, step.audit);
        removed += step.removed;
      } while (goOn.test(removed) && !step.done);
    }
    return removed;
  }

  private record Step(long page, @Nullable Long audit, int removed, boolean done) {}

  private static Step step(ResultSet row) throws SQLException {
    return new Step(
        row.getLong("p_page"),
        row.getObject("p_audit", Long.class),
        row.getInt("removed"),
        row.getBoolean("done"));
  }
}
