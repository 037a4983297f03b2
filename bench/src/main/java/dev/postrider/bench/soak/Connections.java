package dev.postrider.bench.soak;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import javax.sql.DataSource;

/**
 * What can leak of a pool. The number of its connections cannot show that: a pool keeps as many as
 * it may have. Used by one thread.
 */
final class Connections {
  private static final String OPEN =
      "select count(*) from pg_stat_activity where state like 'idle in transaction%'"
          + " and now() - state_change > make_interval(secs => ?)";

  private static final String OTHERS =
      "select count(*) from pg_stat_activity"
          + " where backend_type = 'client backend' and pid <> pg_backend_pid()";

  private static final int LOOK_MS = 10;

  private final HikariPoolMXBean pool;
  private int fewest = Integer.MAX_VALUE;

  Connections(HikariDataSource dataSource) {
    this.pool = Objects.requireNonNull(dataSource.getHikariPoolMXBean());
  }

  /** Looks at the pool again and again until a time of {@link System#nanoTime}. */
  void lookUntil(long due) throws InterruptedException {
    do {
      fewest = Math.min(fewest, pool.getActiveConnections());
      Thread.sleep(Math.max(1, Math.min(LOOK_MS, (due - System.nanoTime()) / 1_000_000)));
    } while (System.nanoTime() < due);
  }

  /**
   * The fewest in use at one moment since the last call. Traffic takes and returns connections all
   * the time, so these are the ones that somebody keeps.
   */
  int held() {
    int held = fewest;
    fewest = Integer.MAX_VALUE;
    return held;
  }

  /** Sessions of the whole server that do nothing in an open transaction for longer than this. */
  static long openTransactions(DataSource dataSource, Duration longerThan) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement statement = connection.prepareStatement(OPEN)) {
      statement.setDouble(1, longerThan.toMillis() / 1000.0);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  /** When all users of a pool were closed, nobody may have a connection of it. */
  static List<String> notReturned(HikariDataSource dataSource, Duration patience) throws Exception {
    HikariPoolMXBean pool = Objects.requireNonNull(dataSource.getHikariPoolMXBean());
    long left = zero(() -> (long) pool.getActiveConnections(), patience);
    return left == 0 ? List.of() : List.of("%d connections were not returned".formatted(left));
  }

  /** When all pools were closed, the server may have no sessions. */
  static List<String> sessionsLeft(String url, Duration patience) throws Exception {
    long left = zero(() -> others(url), patience);
    return left == 0 ? List.of() : List.of("%d sessions are left".formatted(left));
  }

  private static long others(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        PreparedStatement statement = connection.prepareStatement(OTHERS);
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Waits until it is zero, and returns the last value. */
  private static long zero(Callable<Long> value, Duration patience) throws Exception {
    long end = System.nanoTime() + patience.toNanos();
    long last = value.call();
    while (last > 0 && System.nanoTime() < end) {
      Thread.sleep(LOOK_MS);
      last = value.call();
    }
    return last;
  }
}
