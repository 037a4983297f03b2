package dev.postrider.bench;

import java.sql.SQLException;
import java.util.concurrent.locks.LockSupport;

/**
 * What a measured stretch of another process cost: begin, stop when the work is done, settle when
 * the process has closed its connections, because servers count rows when a connection ends. Used
 * by one thread.
 */
final class Bill {
  private static final long GONE_NANOS = 5_000_000_000L;
  private static final String OTHERS =
      """
      select count(*) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
         and backend_type in ('client backend', 'walsender')
      """;
  private static final String ROWS =
      """
      select tup_inserted + tup_updated + tup_deleted from pg_stat_database
       where datname = current_database()
      """;
  private static final String STATEMENTS =
      """
      select coalesce(sum(calls), 0)::bigint from pg_stat_statements(false)
       where dbid = (select oid from pg_database where datname = current_database())
      """;

  private final BenchDatabase database;
  private long rows;
  private long statements;

  Bill(BenchDatabase database) {
    this.database = database;
  }

  void begin() throws SQLException {
    rows = database.count(ROWS);
    statements = database.count(STATEMENTS);
    database.meter().start();
  }

  void stop(long messages) throws SQLException {
    database.meter().stop(Math.max(1, messages));
    statements = database.count(STATEMENTS) - statements;
  }

  /** Per message, with what the process says of itself. */
  void settle(double messages, double clientMicros, double heapBytes) throws SQLException {
    long deadline = System.nanoTime() + GONE_NANOS;
    while (database.count(OTHERS) > 0 && System.nanoTime() < deadline) {
      LockSupport.parkNanos(5_000_000);
    }
    rows = database.count(ROWS) - rows;
    Meter.Cost server = database.meter().take();
    if (server != null) {
      Meter.Counts counts = new Meter.Counts(rows / messages, statements / messages, heapBytes);
      database
          .meter()
          .put(
              new Meter.Cost(
                  server.serverMicros(), clientMicros / messages, server.walBytes(), counts));
    }
  }
}
