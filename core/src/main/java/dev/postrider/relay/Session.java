package dev.postrider.relay;

import dev.postrider.observe.LogLine;
import dev.postrider.observe.RelayListener;
import dev.postrider.store.DatabaseError;
import dev.postrider.store.HeldConnection;
import dev.postrider.store.HeldConnection.Work;
import dev.postrider.wake.Wakeup;
import java.sql.SQLException;
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

  private final HeldConnection held;
  private final RelayListener listener;
  private long retryMs = RETRY_MIN_MS;

  Session(
      DataSource dataSource, Duration statementTimeout, RelayListener listener, Work onConnect) {
    this.held = new HeldConnection(dataSource, statementTimeout, onConnect);
    this.listener = listener;
  }

  /** Runs the work; false if the database failed, after a pause that grows with each failure. */
  boolean tryRun(Work work, Wakeup stop) throws InterruptedException {
    try {
      work.run(held.get());
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

  private void failed(String kind, @Nullable String sqlState, Exception error) {
    log.warn(
        "{}",
        LogLine.of("outbox_database_failed")
            .put("kind", kind)
            .put("sqlstate", sqlState)
            .put("retry_ms", retryMs)
            .put("error", error.getMessage()));
    listener.databaseFailed(kind, error);
    held.discard();
  }

  @Override
  public void close() {
    held.close();
  }
}
