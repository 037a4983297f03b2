package dev.postrider.observe;

import dev.postrider.store.Database;
import dev.postrider.store.Messages;
import dev.postrider.store.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;

/** Who carries messages, and what they hold. Thread-safe if the data source is. */
public final class Workers {
  /** A relay is seen every reap interval, which is a minute at most. */
  private static final Duration LOST = Duration.ofMinutes(2);

  // A relay has one worker for each carrier, name/1 and so on. One that was killed days ago and
  // holds nothing is history.
  private static final String RELAYS =
      """
      select regexp_replace(w.name, '/[0-9]+$', '') as name, min(w.started_at) as started_at,
             extract(epoch from now() - max(w.seen_at))::bigint as seconds,
             coalesce(sum(l.open), 0) as open, coalesce(sum(l.leases), 0) as leases
        from postrider.worker w
        left join (select l.worker, sum(l.open) as open, count(*) as leases
                     from postrider.lease l group by l.worker) l on l.worker = w.id
       where w.stopped_at is null and (w.seen_at > now() - interval '1 day' or l.open > 0)
       group by 1 order by 3, 1 limit 100
      """;
  private static final String LEASES =
      """
      select l.token, w.name as worker, l.claimed_at, l.until, l.open, l.until < now() as over
        from postrider.lease l left join postrider.worker w on w.id = l.worker
       where l.token > ? order by l.token limit ?
      """;

  private final Database database;

  /**
   * A relay that has not said that it stopped. Immutable.
   *
   * @param sinceSeen by the database's clock
   * @param inFlight messages that it holds
   */
  public record LiveRelay(
      String name, Instant startedAt, Duration sinceSeen, long inFlight, long leases) {
    /** Whether it should have been seen by now. */
    public boolean lost() {
      return sinceSeen.compareTo(LOST) > 0;
    }
  }

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

  /** The relays, those seen last first; a hundred at most. */
  public List<LiveRelay> relays() throws SQLException {
    return database.list(RELAYS, Workers::relay);
  }

  /**
   * A page of leases, the oldest first.
   *
   * @param after the last token of the page before, 0 for the first page
   */
  public List<Lease> leases(long after, int limit) throws SQLException {
    return database.list(LEASES, Workers::lease, after, Messages.pageSize(limit));
  }

  private static LiveRelay relay(ResultSet row) throws SQLException {
    return new LiveRelay(
        row.getString("name"),
        Objects.requireNonNull(Database.instant(row, "started_at")),
        Duration.ofSeconds(row.getLong("seconds")),
        row.getLong("open"),
        row.getLong("leases"));
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
