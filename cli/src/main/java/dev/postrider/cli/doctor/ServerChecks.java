package dev.postrider.cli.doctor;

import dev.postrider.cli.output.Words;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;

/** The server itself. */
final class ServerChecks {
  private static final int OLDEST_VERSION = 140_000;
  private static final int OLDEST_TESTED_VERSION = 150_000;
  private static final Duration CLOCK_MAX = Duration.ofSeconds(5);
  private static final Duration TRANSACTION_MAX = Duration.ofMinutes(5);

  // Whatever keeps dead rows from being removed: sessions, prepared transactions, replication
  // slots.
  // Slots have no time, only a distance in transactions.
  private static final String HOLDERS =
      """
      select * from (
        select 'session ' || a.pid || coalesce(' of ' || a.usename, '')
                 || coalesce(' (' || nullif(a.application_name, '') || ')', '') as holder,
               extract(epoch from now() - a.xact_start)::bigint as seconds,
               age(coalesce(a.backend_xmin, a.backend_xid)) as age
          from pg_stat_activity a
         where a.pid <> pg_backend_pid() and a.xact_start is not null
           and coalesce(a.backend_xmin, a.backend_xid) is not null
        union all
        select 'prepared transaction ' || p.gid, extract(epoch from now() - p.prepared)::bigint,
               age(p.transaction)
          from pg_prepared_xacts p where p.database = current_database()
        union all
        select 'replication slot ' || s.slot_name || case when s.active then '' else ', inactive' end,
               case when s.active then 0 else null end, age(coalesce(s.xmin, s.catalog_xmin))
          from pg_replication_slots s where coalesce(s.xmin, s.catalog_xmin) is not null) h
       where h.seconds > ? or (h.seconds is null and h.age > 100000)
       order by h.age desc limit 3
      """;

  private ServerChecks() {}

  static Finding version(CheckedDatabase checked) throws SQLException {
    String shown =
        checked.database().one("select current_setting('server_version')", r -> r.getString(1));
    int number =
        checked
            .database()
            .one("select current_setting('server_version_num')::int", r -> r.getInt(1));
    if (number < OLDEST_VERSION) {
      return Finding.trouble(
          "server", "PostgreSQL " + shown + " is too old", "Upgrade to 15 or newer.");
    }
    return number < OLDEST_TESTED_VERSION
        ? Finding.note(
            "server",
            "PostgreSQL " + shown + " is past its end of life and not tested",
            "Upgrade to 15 or newer.")
        : Finding.ok("server", "PostgreSQL " + shown);
  }

  static Finding durability(CheckedDatabase checked) throws SQLException {
    List<String> off =
        checked
            .database()
            .list(
                """
                select name from pg_settings
                 where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
                 order by name
                """,
                row -> row.getString(1));
    return off.isEmpty()
        ? Finding.ok("durability", "commits survive a crash of the server")
        : Finding.trouble(
            "durability",
            String.join(", ", off) + " off: a crash can lose committed messages",
            "Turn it on in postgresql.conf.");
  }

  static Finding clock(CheckedDatabase checked) throws SQLException {
    try (var session = checked.database().open()) {
      Instant before = Instant.now();
      OffsetDateTime server =
          session.one("select clock_timestamp()", row -> row.getObject(1, OffsetDateTime.class));
      Duration trip = Duration.between(before, Instant.now());
      Duration skew = Duration.between(before.plus(trip.dividedBy(2)), server.toInstant()).abs();
      String shown = "%.1f s".formatted(skew.toMillis() / 1000.0);
      return skew.minus(trip).compareTo(CLOCK_MAX) <= 0
          ? Finding.ok("clock", "within " + shown + " of this machine's")
          : Finding.trouble(
              "clock",
              shown + " apart from this machine's",
              "Check NTP on both: ids made by clients and the times people compare depend on it.");
    }
  }

  static Finding oldTransactions(CheckedDatabase checked) throws SQLException {
    List<String> holders =
        checked
            .database()
            .list(
                HOLDERS,
                row -> {
                  long seconds = row.getLong("seconds");
                  String time =
                      row.wasNull() ? "" : " for " + Words.age(Duration.ofSeconds(seconds));
                  return row.getString("holder") + time;
                },
                TRANSACTION_MAX.toSeconds());
    return holders.isEmpty()
        ? Finding.ok("transactions", "none older than " + Words.age(TRANSACTION_MAX))
        : Finding.trouble(
            "transactions",
            String.join("; ", holders) + " keeps dead rows from being removed",
            "Ask its owner, or end it: select pg_terminate_backend(pid).");
  }
}
