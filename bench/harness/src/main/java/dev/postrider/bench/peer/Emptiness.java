package dev.postrider.bench.peer;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.LockSupport;

/** Tells when a backlog is gone, asking the database no more than it must. Used by one thread. */
final class Emptiness implements AutoCloseable {
  private static final long LOOK_NANOS = 2_000_000;
  private static final long STALLED_NANOS = 15_000_000_000L;

  private final Connection connection;
  private final String idle;
  private final Arrivals arrivals;

  Emptiness(Site site, String idle, Arrivals arrivals) throws SQLException {
    this.connection = site.dataSource().getConnection();
    this.idle = idle;
    this.arrivals = arrivals;
  }

  /**
   * Waits until everything has come and the peer is idle; if others share the backlog, until the
   * peer is idle. Gives up when nothing has come for a while: what is missing then is lost.
   *
   * @return when that was
   */
  long await(boolean shared) throws SQLException {
    long before = 0;
    long progressNanos = System.nanoTime();
    while (true) {
      LockSupport.parkNanos(LOOK_NANOS);
      long total = arrivals.total();
      if (total == before && (shared || arrivals.complete()) && Site.isTrue(connection, idle)) {
        return System.nanoTime();
      }
      if (total != before) {
        before = total;
        progressNanos = System.nanoTime();
      } else if (System.nanoTime() - progressNanos > STALLED_NANOS) {
        return progressNanos;
      }
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
