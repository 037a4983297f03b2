package dev.postrider.observe;

import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.message.PostriderException;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the backlog at a steady pace and hands it on, from a thread of its own so that a slow read
 * holds up nothing else: however often metrics are scraped, the database is asked this often. A
 * connection is taken for each read and given back. Start and close are idempotent; thread-safe.
 */
public final class BacklogSampler implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(BacklogSampler.class);
  private static final Duration EVERY_MIN = Duration.ofMillis(500);

  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(2);

  private final DataSource dataSource;
  private final Schema schema;
  private final Duration every;
  private final Consumer<Backlog> sink;
  private @Nullable ScheduledExecutorService executor;
  private boolean failing;

  /**
   * @param every pause between two reads, at least half a second; 10 s suits most
   * @param sink takes what was read, such as {@code backlogMeters::show}
   */
  public BacklogSampler(
      DataSource dataSource, Schema schema, Duration every, Consumer<Backlog> sink) {
    if (every.compareTo(EVERY_MIN) < 0) {
      throw new PostriderException("every must be at least 500 ms, got " + every);
    }
    this.dataSource = dataSource;
    this.schema = schema;
    this.every = every;
    this.sink = sink;
  }

  public synchronized BacklogSampler start() {
    if (executor == null) {
      ScheduledExecutorService started =
          Executors.newSingleThreadScheduledExecutor(BacklogSampler::thread);
      var unused =
          started.scheduleWithFixedDelay(this::sample, 0, every.toMillis(), TimeUnit.MILLISECONDS);
      executor = started;
    }
    return this;
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "postrider-backlog");
    thread.setDaemon(true);
    return thread;
  }

  /** Nothing may escape: the executor would never call again. */
  private void sample() {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(true);
      sink.accept(Backlog.read(connection, schema));
      failing = false;
    } catch (Throwable e) {
      if (!failing) {
        failing = true; // said once, until it works again; the gauges' own age tells the rest
        log.warn("{}", LogLine.of("outbox_backlog_unreadable").put("error", Silenced.text(e)));
      }
    }
  }

  /** Waits for a sample that is being taken: its pool would report a connection closed under it. */
  @Override
  public synchronized void close() {
    if (executor == null) {
      return;
    }
    executor.shutdown();
    try {
      if (!executor.awaitTermination(CLOSE_WITHIN.toMillis(), TimeUnit.MILLISECONDS)) {
        executor.shutdownNow();
      }
    } catch (InterruptedException e) {
      executor.shutdownNow();
      Thread.currentThread().interrupt();
    }
    executor = null;
  }
}
