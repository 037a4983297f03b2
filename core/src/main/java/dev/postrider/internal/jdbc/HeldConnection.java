package dev.postrider.internal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that is kept for long, in auto-commit mode and with time limits, and opened again
 * when it is needed after it was discarded. The limits are settings of the session; behind a
 * pooler, where others get the same session, see {@link PooledLimits}. Used by one thread; only
 * {@link #discard} may come from another.
 */
public final class HeldConnection implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HeldConnection.class);

  /** Work on a connection. */
  @FunctionalInterface
  public interface Work {
    void run(Connection connection) throws SQLException;
  }

  private final DataSource dataSource;
  private final Duration statementTimeout;
  private final Work onConnect;
  private volatile @Nullable Connection connection;
  private int networkTimeout;
  private int isolation;
  private boolean pooled;

  /**
   * @param onConnect done first on each new connection
   */
  public HeldConnection(DataSource dataSource, Duration statementTimeout, Work onConnect) {
    this.dataSource = dataSource;
    this.statementTimeout = statementTimeout;
    this.onConnect = onConnect;
  }

  /** The connection, opened if there is none. */
  public Connection get() throws SQLException {
    Connection open = connection;
    if (open != null) {
      return open;
    }
    Connection fresh = dataSource.getConnection();
    try {
      Connection limited = limit(fresh);
      onConnect.run(limited);
      connection = limited;
      return limited;
    } catch (SQLException | RuntimeException e) {
      discard(fresh);
      throw e;
    }
  }

  private Connection limit(Connection fresh) throws SQLException {
    fresh.setAutoCommit(true);
    networkTimeout = fresh.getNetworkTimeout();
    // The server gives up first; the socket's limit is for a server that is gone.
    fresh.setNetworkTimeout(Runnable::run, (int) (statementTimeout.toMillis() + 5_000));
    pooled = PooledLimits.neededFor(fresh);
    if (pooled) {
      return PooledLimits.on(fresh, statementTimeout);
    }
    limitSession(fresh);
    return fresh;
  }

  private void limitSession(Connection fresh) throws SQLException {
    isolation = fresh.getTransactionIsolation();
    // Claims and appends rely on seeing what was committed before they got their lock.
    fresh.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    long ms = statementTimeout.toMillis();
    try (Statement statement = fresh.createStatement()) {
      statement.execute(
          "set statement_timeout = %d; set idle_in_transaction_session_timeout = %d"
              .formatted(ms, ms));
    }
  }

  /** Its state is unknown: not to be used again by anyone, also if it came from a pool. */
  public void discard() {
    Connection open = connection;
    connection = null;
    if (open != null) {
      discard(open);
    }
  }

  /** Gives the connection back as it came: it may belong to a pool that others use too. */
  @Override
  public void close() {
    Connection open = connection;
    connection = null;
    if (open == null) {
      return;
    }
    try (open;
        Statement statement = open.createStatement()) {
      if (!open.getAutoCommit()) {
        open.rollback();
        open.setAutoCommit(true);
      }
      if (!pooled) {
        statement.execute("reset statement_timeout; reset idle_in_transaction_session_timeout");
        open.setTransactionIsolation(isolation);
      }
      open.setNetworkTimeout(Runnable::run, networkTimeout);
    } catch (SQLException e) {
      discard(open);
    }
  }

  private static void discard(Connection open) {
    try (open) {
      open.abort(Runnable::run);
    } catch (SQLException e) {
      log.debug("closing a connection failed", e);
    }
  }
}
