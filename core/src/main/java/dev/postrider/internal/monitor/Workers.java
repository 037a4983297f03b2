package dev.postrider.internal.monitor;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.operations.Messages;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;

/** What workers hold. Thread-safe if the data source is. */
public final class Workers {
  private static final String LEASES =
      """
      select l.token, w.name as worker, l.claimed_at, l.until, l.open, l.until < now() as over
        from postrider.lease l left join postrider.worker w on w.id = l.worker
       where l.token > ? order by l.token limit ?
      """;

  private final Database database;

  /**
   * A claim that is not settled. Immutable.
   *
   * @param open messages of it that are not settled
   * @param over whether anyone may take them
   */
  public record Lease(
      long token, String worker, Instant claimedAt, Instant until, int open, boolean over) {}

  public Workers(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /**
   * A page of leases, the oldest first.
   *
   * @param after the last token of the page before, 0 for the first page
   */
  public List<Lease> leases(long after, int limit) throws SQLException {
    return database.list(LEASES, Workers::lease, after, Messages.pageSize(limit));
  }

  private static Lease lease(ResultSet row) throws SQLException {
    return new Lease(
        row.getLong("token"),
        Objects.requireNonNullElse(row.getString("worker"), ""),
        Objects.requireNonNull(Database.instant(row, "claimed_at")),
        Objects.requireNonNull(Database.instant(row, "until")),
        row.getInt("open"),
        row.getBoolean("over"));
  }
}
