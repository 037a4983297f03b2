package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.store.Database;
import dev.postrider.store.Schema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/**
 * A relay that has not said that it stopped. Immutable.
 *
 * @param sinceSeen by the database's clock
 */
record LiveRelay(String name, Duration sinceSeen, long inFlight, long leases) {
  /** A relay is seen every reap interval, which is a minute at most. */
  private static final Duration LOST = Duration.ofMinutes(2);

  // A relay has one worker for each carrier, name/1 and so on. One that was killed days ago and
  // holds
  // nothing is history.
  private static final String LIST =
      """
      select regexp_replace(w.name, '/[0-9]+$', '') as name,
             extract(epoch from now() - max(w.seen_at))::bigint as seconds,
             coalesce(sum(l.open), 0) as open, coalesce(sum(l.leases), 0) as leases
        from postrider.worker w
        left join (select l.worker, sum(l.open) as open, count(*) as leases
                     from postrider.lease l group by l.worker) l on l.worker = w.id
       where w.stopped_at is null and (w.seen_at > now() - interval '1 day' or l.open > 0)
       group by 1 order by 2, 1 limit 100
      """;

  static List<LiveRelay> list(DataSource dataSource, Schema schema) throws SQLException {
    return new Database(dataSource, schema)
        .list(
            LIST,
            row ->
                new LiveRelay(
                    row.getString("name"),
                    Duration.ofSeconds(row.getLong("seconds")),
                    row.getLong("open"),
                    row.getLong("leases")));
  }

  boolean lost() {
    return sinceSeen.compareTo(LOST) > 0;
  }

  Map<String, Object> json() {
    return new Fields()
        .with("name", name)
        .with("seen_seconds_ago", sinceSeen.toSeconds())
        .with("lost", lost())
        .with("in_flight", inFlight)
        .with("leases", leases)
        .map();
  }
}
