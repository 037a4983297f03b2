package dev.postrider.relay;

import dev.postrider.error.DatabaseError;
import dev.postrider.internal.jdbc.Advice;
import dev.postrider.internal.jdbc.HeldConnection;
import dev.postrider.internal.jdbc.HeldConnection.Work;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.internal.wake.Wakeup;
import dev.postrider.observe.RelayListener;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A long-lived connection with time limits that comes back by itself after a failure. It tries
 * again after every failure, also a fatal one: somebody may mend the database meanwhile. Used by
 * one thread; only {@link #failure} may come from another.
 */
final class ReconnectingSession implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ReconnectingSession.class);
  private static final long RETRY_MIN_MS = 50;
  private static final long RETRY_MAX_MS = 5_000;
  private static final String CONNECT = "connect";

  /** What sessions of one relay have in common. */
  record Origin(
      DataSource dataSource, Schema schema, Duration statementTimeout, RelayListener listener) {}

  /** Makes sessions with the relay's settings. */
  interface Factory {
    ReconnectingSession open(Work onConnect);
  }

  private final Origin origin;
  private final HeldConnection held;
  private final Map<String, String> fatal = new ConcurrentHashMap<>();
  private long retryMs = RETRY_MIN_MS;

  ReconnectingSession(Origin origin, Work onConnect) {
    this.origin = origin;
    this.held = new HeldConnection(origin.dataSource(), origin.statementTimeout(), onConnect);
  }

  /** Work on a connection that has a result. */
  @FunctionalInterface
  interface Call<T> {
    T run(Connection connection) throws SQLException;
  }

  /**
   * Runs the work; false if the database failed, after a pause that grows with each failure.
   *
   * @param action names the work, for people
   */
  boolean tryRun(String action, Work work, Wakeup stop) throws InterruptedException {
    Boolean done =
        tryCall(
            action,
            connection -> {
              work.run(connection);
              return true;
            },
            stop);
    return done != null;
  }

  /** Like {@link #tryRun}, but returns the result of the work; null if the database failed. */
  <T> @Nullable T tryCall(String action, Call<T> work, Wakeup stop) throws InterruptedException {
    String doing = CONNECT;
    try {
      Connection connection = held.get();
      fatal.remove(CONNECT);
      doing = action;
      T result = work.run(connection);
      fatal.remove(action);
      retryMs = RETRY_MIN_MS;
      return result;
    } catch (SQLException e) {
      failed(doing, DatabaseError.of(e), e.getSQLState(), advised(e));
    } catch (RuntimeException e) {
      // From a data source or a bug of ours: a thread that ended here would never be missed.
      failed(doing, DatabaseError.FATAL, null, e);
    }
    stop.pause(Duration.ofMillis(retryMs));
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
    return null;
  }

  /** Why the last try of something failed that no repetition will mend; null if all is well. */
  @Nullable String failure() {
    return fatal.values().stream().findFirst().orElse(null);
  }

  private SQLException advised(SQLException error) {
    return Advice.on(error, origin.schema(), "relay", null);
  }

  private void failed(
      String action, DatabaseError kind, @Nullable String sqlState, Exception error) {
    log.warn(
        "{}",
        LogLine.of("outbox_database_failed")
            .put("action", action)
            .put("kind", kind.label())
            .put("sqlstate", sqlState)
            .put("retry_ms", retryMs)
            .put("error", Silenced.text(error)));
    if (kind == DatabaseError.FATAL) {
      fatal.put(action, action + ": " + Silenced.text(error));
    }
    origin.listener().databaseFailed(kind.label(), error);
    held.discard();
  }

  @Override
  public void close() {
    held.close();
  }
}
