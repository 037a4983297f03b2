package dev.postrider.bench.soak;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * Makes days of the past, each a partition of delivered messages and one of their attempts, which
 * retention has to drop. Used by one thread.
 */
final class OldDays {
  static final int PER_DAY = 1_000;

  /** Retention works a tenth of the time, so this is often enough for a busy machine. */
  static final long EVERY_SECONDS = 20;

  /** More than a database keeps waiting while all is well: one is made every few seconds. */
  static final int LEFT_MAX = 10;

  private static final int NEWEST = 10;
  private static final String LEFT =
      "select count(*) from postrider.partition where to_at < now() - interval '3 days'";

  /** Days before today, messages. */
  private static final String MAKE =
      """
      set local timezone = 'UTC';
      select from postrider.attach_days('message', array[current_date - %1$d], false);
      select from postrider.attach_days('attempt', array[current_date - %1$d], false);
      with made as (
        insert into postrider.message (id, created_at, route, is_json, payload)
        select overlay(postrider.id_floor(d.day)::text placing lpad(i::text, 12, '0') from 25 for 12)::uuid,
               d.day, r.id, true, '{"old": true}'
          from generate_series(1, %2$d) i, (select (current_date - %1$d)::timestamptz as day) d,
               postrider.intern_route('soak', 'old') r(id)
        returning id, created_at)
      insert into postrider.attempt (message_id, claimed_at, finished_at, no, delivery, state, latency_ms)
      select id, created_at, created_at, 1, 1, 1, 3 from made;
      """;

  private final DataSource dataSource;
  private int made;

  OldDays(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /** One more, the day before the last one. */
  void make() throws SQLException {
    execute(dataSource, MAKE.formatted(NEWEST + made, PER_DAY));
    made++;
  }

  /** In one transaction. */
  static void execute(DataSource dataSource, String sql) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      try {
        statement.execute(sql);
        connection.commit();
      } catch (SQLException e) {
        connection.rollback();
        throw e;
      }
    }
  }

  int made() {
    return made;
  }

  /** Partitions of old days that were not dropped yet. */
  static long left(DataSource dataSource) throws SQLException {
    return number(dataSource, LEFT);
  }

  static long number(DataSource dataSource, String sql) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }
}
