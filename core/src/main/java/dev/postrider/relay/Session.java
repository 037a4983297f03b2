package dev.postrider.relay;

import dev.postrider.observe.LogLine;
import dev.postrider.observe.RelayListener;
import dev.postrider.store.DatabaseError;
import dev.postrider.wake.Wakeup;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A long-lived connection with time limits that comes back by itself after a failure. Used by one
 * thread.
 */
final class Session implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Session.class);
  private static final long RETRY_MIN_MS = 50;
  private static final long RETRY_MAX_MS = 5_000;

  /** Work on the connection, in auto-commit mode. */
  interface Work {
    void run(Connection connection) throws SQLException;
  }

  private final DataSource dataSource;
  private final Duration statementTimeout;
  private final RelayListener listener;
  private final Work onConnect;
  private @Nullable Connection connection;
  private int networkTimeout;
  private int isolation;
  private long retryMs = RETRY_MIN_MS;

  Session(
      DataSource dataSource, Duration statementTimeout, RelayListener listener, Work onConnect) {
    this.dataSource = dataSource;
    this.statementTimeout = statementTimeout;
    this.listener = listener;
    this.onConnect = onConnect;
  }

  /** Runs the work; false if the database failed, after a pause that grows with each failure. */
  boolean tryRun(Work work, Wakeup stop) throws InterruptedException {
    try {
      work.run(connect());
      retryMs = RETRY_MIN_MS;
      return true;
    } catch (SQLException e) {
      failed(DatabaseError.of(e).label(), e.getSQLState(), e);
      stop.pause(Duration.ofMillis(retryMs));
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
      return false;
    } catch (RuntimeException e) {
      // From a data source or a bug of ours: a thread that ended here would never be missed.
      failed(DatabaseError.FATAL.label(), null, e);
      stop.pause(Duration.ofMillis(retryMs));
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
      return false;
    }
  }

  private Connection connect() throws SQLException {
    Connection open = connection;
    if (open != null) {
      return open;
    }
    Connection fresh = dataSource.getConnection();
    try {
      fresh.setAutoCommit(true);
      networkTimeout = fresh.getNetworkTimeout();
      isolation = fresh.getTransactionIsolation();
      // A claim relies on seeing what was committed before it got its lane, whatever the default.
      fresh.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      long ms = statementTimeout.toMillis();
      // The server gives up first; the socket's limit is for a server that is gone.
      fresh.setNetworkTimeout(Runnable::run, (int) (ms + 5_000));
      try (Statement statement = fresh.createStatement()) {
        statement.execute(
            "set statement_timeout = %d; set idle_in_transaction_session_timeout = %d"
                .formatted(ms, ms));
      }
      onConnect.run(fresh);
    } catch (SQLException | RuntimeException e) {
      discard(fresh);
      throw e;
    }
    connection = fresh;
    return fresh;
  }

  private void failed(String kind, @Nullable String sqlState, Exception error) {
    log.warn(
        "{}",
        LogLine.of("outbox_database_failed")
            .put("kind", kind)
            .put("sqlstate", sqlState)
            .put("retry_ms", retryMs)
            .put("error", error.getMessage()));
    listener.databaseFailed(kind, error);
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
      statement.execute("reset statement_timeout; reset idle_in_transaction_session_timeout");
      open.setTransactionIsolation(isolation);
      open.setNetworkTimeout(Runnable::run, networkTimeout);
    } catch (SQLException e) {
      discard(open);
    }
  }

  /** Its state is unknown: not to be used again by anyone, also if it came from a pool. */
  private static void discard(Connection open) {
    try (open) {
      open.abort(Runnable::run);
    } catch (SQLException e) {
      log.debug("closing a connection failed", e);
    }
  }
}
