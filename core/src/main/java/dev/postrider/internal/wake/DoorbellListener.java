package dev.postrider.internal.wake;

import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.schema.Schema;
import dev.postrider.wake.PromptSocketFactory;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears the doorbell on a direct connection of its own, never inside a transaction, and reconnects
 * by itself. A silent connection is checked regularly, since a dropped one can look alive for
 * hours. Without it polling drives everything. Start and stop are idempotent.
 */
public final class DoorbellListener {
  private static final Logger log = LoggerFactory.getLogger(DoorbellListener.class);
  private static final Duration CHECK_EVERY = Duration.ofSeconds(10);

  /**
   * A pool's connection is given back in order: one that is aborted looks broken to the pool, which
   * logs that with a stack trace. So the wait is short enough to end it soon.
   */
  private static final Duration POOLED_WAIT = Duration.ofMillis(200);

  private static final int SOCKET_TIMEOUT_MS = 5_000;
  private static final long RETRY_MAX_MS = 5_000;

  private final DataSource direct;
  private final String channel;
  private final Consumer<String> heard;
  private final Wakeup stopping = new Wakeup();
  private volatile boolean running;
  private volatile boolean listening;
  private volatile @Nullable Connection open;
  private @Nullable Thread thread;

  /**
   * @param direct gives connections that LISTEN works on: not through a transaction-mode pooler
   * @param heard called with each notification's payload, and with an empty one after a reconnect
   */
  public DoorbellListener(DataSource direct, Schema schema, Consumer<String> heard) {
    this(direct, schema.channel(), heard);
  }

  /** Listens on another channel; its name needs no escaping. */
  public DoorbellListener(DataSource direct, String channel, Consumer<String> heard) {
    this.direct = PromptSocketFactory.on(direct);
    this.channel = channel;
    this.heard = heard;
  }

  public synchronized void start() {
    if (thread == null) {
      running = true;
      Thread started = new Thread(this::run, "postrider-listen");
      started.setDaemon(true);
      started.start();
      thread = started;
    }
  }

  /** Tells it to stop, and does not wait for that. */
  public synchronized void end() {
    if (thread != null) {
      running = false;
      stopping.signal(Wakeup.Reason.STOP);
      Connection connection = open;
      if (connection instanceof PGConnection) {
        abort(connection); // it waits long, and nobody else uses it
      }
    }
  }

  public synchronized void stop() {
    Thread started = thread;
    if (started == null) {
      return;
    }
    end();
    try {
      started.join(SOCKET_TIMEOUT_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Connection connection = open;
    if (connection != null) {
      abort(connection); // its server does not answer
    }
    thread = null;
  }

  /** Whether a connection listens at this moment. */
  public boolean listening() {
    return listening;
  }

  private void run() {
    long retryMs = 100;
    while (running) {
      try (Connection connection = direct.getConnection()) {
        open = connection;
        retryMs = 100;
        listen(connection);
      } catch (SQLException | RuntimeException e) {
        if (running) {
          log.warn(
              "{}",
              LogLine.of("outbox_listen_failed")
                  .put("retry_ms", retryMs)
                  .put("error", Silenced.text(e)));
        }
      } finally {
        listening = false;
        open = null;
      }
      try {
        if (running) {
          stopping.pause(Duration.ofMillis(retryMs));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
    }
  }

  private void listen(Connection connection) throws SQLException {
    connection.setAutoCommit(true);
    try (Statement statement = connection.createStatement()) {
      statement.execute("listen \"" + channel + "\"");
      PGConnection pg = connection.unwrap(PGConnection.class);
      listening = true;
      // Whatever was rung before the LISTEN went unheard.
      heard.accept("");
      Duration wait = connection instanceof PGConnection ? CHECK_EVERY : POOLED_WAIT;
      long aliveNanos = System.nanoTime();
      while (running) {
        PGNotification[] notifications = pg.getNotifications((int) wait.toMillis());
        if (notifications != null && notifications.length > 0) {
          for (PGNotification notification : notifications) {
            heard.accept(notification.getParameter());
          }
          aliveNanos = System.nanoTime();
        } else if (System.nanoTime() - aliveNanos >= CHECK_EVERY.toNanos()) {
          checkAlive(connection, statement);
          aliveNanos = System.nanoTime();
        }
      }
      statement.execute("unlisten \"" + channel + "\""); // a pool hands the session on
    }
  }

  private static void checkAlive(Connection connection, Statement statement) throws SQLException {
    connection.setNetworkTimeout(Runnable::run, SOCKET_TIMEOUT_MS);
    statement.execute("select 1");
    connection.setNetworkTimeout(Runnable::run, 0);
  }

  private static void abort(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      log.debug("abort of the listening connection failed", e);
    }
  }
}
