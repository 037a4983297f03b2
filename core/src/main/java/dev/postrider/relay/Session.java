package dev.postrider.relay;

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
      failed(e);
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
      long ms = statementTimeout.toMillis();
      // The server gives up first; the socket's limit is for a server that is gone.
      fresh.setNetworkTimeout(Runnable::run, (int) (ms + 5_000));
      try (Statement statement = fresh.createStatement()) {
        statement.execute(
            "set statement_timeout = %d; set idle_in_transaction_session_timeout = %d"
                .formatted(ms, ms));
      }
      onConnect.run(fresh);
    } catch (SQLException e) {
      closeQuietly(fresh);
      throw e;
    }
    connection = fresh;
    return fresh;
  }

  private void failed(SQLException error) {
    String kind = DatabaseError.of(error).label();
    log.warn(
        "event=outbox_database_failed kind={} sqlstate={} retry_ms={} error=\"{}\"",
        kind,
        error.getSQLState(),
        retryMs,
        error.getMessage());
    listener.databaseFailed(kind, error);
    close();
  }

  @Override
  public void close() {
    Connection open = connection;
    connection = null;
    if (open != null) {
      closeQuietly(open);
    }
  }

  private static void closeQuietly(Connection open) {
    try {
      open.close();
    } catch (SQLException e) {
      log.debug("closing a connection failed", e);
    }
  }
}
