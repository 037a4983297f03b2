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
import org.jspecify.annotations.Nullable;

/** What operators did. Reads only. Thread-safe if the data source is. */
public final class AuditLog {
  private static final String LIST =
      """
      select id, at, actor, login, action, detail, count
        from postrider.audit
       where id < ? and actor = coalesce(?::text, actor) and action = coalesce(?::text, action)
         and at >= coalesce(?::timestamptz, '-infinity') and at < coalesce(?::timestamptz, 'infinity')
       order by id desc limit ?
      """;

  private final Database database;

  /**
   * One act. Immutable.
   *
   * @param actor as told by the caller; the server tells the token's name and number
   * @param login who was logged in to the database
   * @param detail what it was about, as JSON
   * @param count how many it touched, null if it is not about a number
   */
  public record Entry(
      long id,
      Instant at,
      String actor,
      String login,
      String action,
      String detail,
      @Nullable Long count) {}

  public AuditLog(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /**
   * A page, the newest first.
   *
   * @param before the last id of the page before, null for the first page
   */
  public List<Entry> list(@Nullable Long before, int limit) throws SQLException {
    return list(AuditFilter.ALL, before, limit);
  }

  /** A page of the entries that match, the newest first. */
  public List<Entry> list(AuditFilter filter, @Nullable Long before, int limit)
      throws SQLException {
    return database.list(
        LIST,
        AuditLog::entry,
        before == null ? Long.MAX_VALUE : before,
        filter.actor(),
        filter.action(),
        filter.from(),
        filter.to(),
        Messages.pageSize(limit));
  }

  private static Entry entry(ResultSet row) throws SQLException {
    return new Entry(
        row.getLong("id"),
        Objects.requireNonNull(Database.instant(row, "at")),
        row.getString("actor"),
        row.getString("login"),
        row.getString("action"),
        row.getString("detail"),
        row.getObject("count", Long.class));
  }
}
