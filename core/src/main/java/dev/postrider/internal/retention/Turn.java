package dev.postrider.internal.retention;

import dev.postrider.internal.jdbc.Database;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Keeps a relay's turn while it does something that may outlast it, such as an upload: a thread of
 * its own renews it. Once lost it stays lost. Thread-safe.
 */
final class Turn implements AutoCloseable {
  private static final String HOLD = "select postrider.retention_hold(?, ?::interval)";

  private final Database database;
  private final String holder;
  private final String interval;
  private final Duration every;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(Turn::thread);
  private long renewed = System.nanoTime();
  private boolean lost;

  Turn(Database database, String holder, Duration interval, Duration every) {
    this.database = database;
    this.holder = holder;
    this.interval = interval.toString();
    this.every = every;
    var unused =
        timer.scheduleWithFixedDelay(
            this::renew, every.toMillis(), every.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "postrider-retain-turn");
    thread.setDaemon(true);
    return thread;
  }

  /** Whether this relay has the turn; looks if it has not done so for a while. */
  synchronized boolean held() {
    if (System.nanoTime() - renewed > every.toNanos()) {
      renew();
    }
    return !lost;
  }

  private synchronized void renew() {
    try {
      if (!lost) {
        lost = !database.one(HOLD, row -> row.getBoolean(1), holder, interval);
        renewed = System.nanoTime();
      }
    } catch (SQLException | RuntimeException e) {
      // The database is away, which the archive run notices too. The next call tells.
      renewed = System.nanoTime();
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
