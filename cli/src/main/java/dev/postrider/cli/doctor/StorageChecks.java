package dev.postrider.cli.doctor;

import dev.postrider.cli.output.Words;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Tables and what keeps them small. */
final class StorageChecks {
  private static final long DEAD_ROWS_MAX = 200_000;
  private static final long DEFAULT_BYTES_MAX = 1 << 20;

  private StorageChecks() {}

  /** Today's and tomorrow's; a relay makes those of a week. */
  static Finding partitions(CheckedDatabase checked) throws SQLException {
    List<String> missing =
        checked
            .database()
            .list(
                """
                select p.parent || ' of ' || (d.day at time zone 'UTC')::date
                  from (values ('message'), ('attempt')) p(parent),
                       (select date_trunc('day', now(), 'UTC') + n * interval '1 day' as day
                          from generate_series(0, 1) n) d
                 where not exists (select from postrider.partition x
                                    where x.parent = p.parent and x.from_at <= d.day and x.to_at > d.day)
                 order by 1
                """,
                row -> row.getString(1));
    return missing.isEmpty()
        ? Finding.ok("partitions", "made for today and tomorrow")
        : Finding.trouble(
            "partitions",
            "missing: " + String.join(", ", missing),
            "A running relay makes them; or: select * from postrider.ensure_partitions(7)");
  }

  static Finding defaultPartitions(CheckedDatabase checked) throws SQLException {
    List<String> filled =
        checked
            .database()
            .list(
                """
                select p.name || ' (' || pg_size_pretty(pg_table_size(c.oid)) || ')'
                  from postrider.partition p
                  join pg_class c on c.relname = p.name and c.relnamespace = 'postrider'::regnamespace
                 where p.is_default and pg_table_size(c.oid) > ? order by 1
                """,
                row -> row.getString(1),
                DEFAULT_BYTES_MAX);
    return filled.isEmpty()
        ? Finding.ok("default", "no rows pile up beside the partitions")
        : Finding.note(
            "default",
            "rows outside of any day: " + String.join(", ", filled),
            "A running relay retires them if that is quick; else in a quiet hour:"
                + " select postrider.retire_default('message') or ('attempt'); see"
                + " \"The default partitions\" in docs/operating.md");
  }

  /** They are not copied by logical replication, nor by a dump without data. */
  static Finding sequences(CheckedDatabase checked) throws SQLException {
    List<String> behind =
        checked
            .database()
            .list(
                "select name from postrider.sequence_places() where place < needed order by 1",
                row -> row.getString(1));
    return behind.isEmpty()
        ? Finding.ok("sequences", "none is behind its table")
        : Finding.trouble(
            "sequences",
            "behind their tables, as in a copy of a database: " + String.join(", ", behind),
            "Run: select * from postrider.advance_sequences('your name')");
  }

  static Finding vacuum(CheckedDatabase checked) throws SQLException {
    if (!checked
        .database()
        .one("select current_setting('autovacuum')::boolean", row -> row.getBoolean(1))) {
      return Finding.trouble(
          "vacuum", "autovacuum is off: claims will slow down", "Turn it on in postgresql.conf.");
    }
    return checked
        .database()
        .one(
            """
            select s.n_dead_tup, extract(epoch from now() - greatest(s.last_autovacuum, s.last_vacuum))::bigint
              from pg_stat_user_tables s where s.relid = 'postrider.queue'::regclass
            """,
            row -> {
              long dead = row.getLong(1);
              long seconds = row.getLong(2);
              String last =
                  row.wasNull()
                      ? "not vacuumed yet"
                      : "vacuumed " + Words.age(Duration.ofSeconds(seconds)) + " ago";
              String text = "queue: " + Words.count(dead, "dead row") + ", " + last;
              return dead <= DEAD_ROWS_MAX
                  ? Finding.ok("vacuum", text)
                  : Finding.trouble(
                      "vacuum",
                      text,
                      "Look for old transactions above; then: vacuum postrider.queue");
            });
  }
}
