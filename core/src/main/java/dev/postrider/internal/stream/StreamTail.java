package dev.postrider.internal.stream;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.jdbc.HeldConnection;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.internal.wake.DoorbellListener;
import dev.postrider.internal.wake.Wakeup;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the log from its present end on a thread and a connection of its own: woken by whoever
 * appends, on any server, and by polling where no wakeup gets through. Survives restarts of the
 * database and goes on where it was. Start and close are idempotent; thread-safe.
 */
public final class StreamTail implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(StreamTail.class);
  private static final Duration STATEMENT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);
  private static final long RETRY_MIN_MS = 50;
  private static final long RETRY_MAX_MS = 2_000;
  private static final int PAGE = 500;

  /** Hears of the log, on the tail's thread: the next page waits until it is done. */
  public interface Reader {
    /** The tail follows the log from here on; called again only after {@code broken}. */
    void startsAt(long position);

    /** The next events, none left out. */
    void read(StreamPage page);

    /** The log was purged beyond the tail, or set back to an earlier state: it starts anew. */
    void broken(StreamGoneException reason);
  }

  private final StreamLog streamLog;
  private final HeldConnection held;
  private final Duration pollInterval;
  private final Reader reader;
  private final Wakeup wakeup = new Wakeup();
  private final DoorbellListener listener;
  private volatile boolean running;
  private volatile boolean failing;
  private @Nullable Thread thread;

  /**
   * @param direct gives connections that LISTEN works on: not through a transaction-mode pooler
   * @param pollInterval how often to look without being woken
   */
  public StreamTail(StreamLog streamLog, DataSource direct, Duration pollInterval, Reader reader) {
    this.streamLog = streamLog;
    this.held = new HeldConnection(direct, STATEMENT_TIMEOUT, connection -> {});
    this.pollInterval = pollInterval;
    this.reader = reader;
    this.listener =
        new DoorbellListener(
            direct,
            streamLog.schema().channel() + ".stream",
            heard -> wakeup.signal(Wakeup.Reason.NOTIFY));
  }

  public synchronized void start() {
    if (thread == null) {
      running = true;
      listener.start();
      Thread started = new Thread(this::run, "postrider-stream-tail");
      started.setDaemon(true);
      started.start();
      thread = started;
    }
  }

  /** Whether wakeups are heard at this moment. */
  public boolean listening() {
    return listener.listening();
  }

  /** Whether its last look at the log failed, so that it may take a while until the next one. */
  public boolean failing() {
    return failing;
  }

  private void run() {
    long position = -1;
    long retryMs = RETRY_MIN_MS;
    try {
      while (running) {
        try {
          position = position < 0 ? begin() : follow(position);
          retryMs = RETRY_MIN_MS;
          failing = false;
        } catch (StreamGoneException e) {
          reader.broken(e);
          position = -1;
        } catch (SQLException | RuntimeException e) {
          failed(e, retryMs);
          wakeup.pause(Duration.ofMillis(retryMs));
          retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      held.close();
    }
  }

  private long begin() throws SQLException {
    long latest = streamLog.latest(session());
    reader.startsAt(latest);
    return latest;
  }

  private long follow(long position) throws SQLException, InterruptedException {
    StreamPage page = streamLog.after(session(), position, StreamFilter.ALL, PAGE);
    if (page.events().isEmpty()) {
      wakeup.await(pollInterval);
    } else {
      reader.read(page);
    }
    return page.position();
  }

  private Database.Session session() throws SQLException {
    return Database.Session.on(held.get(), streamLog.schema());
  }

  private void failed(Exception error, long retryMs) {
    failing = true;
    held.discard();
    if (running) {
      log.warn(
          "{}",
          LogLine.of("outbox_stream_tail_failed")
              .put("retry_ms", retryMs)
              .put("error", Silenced.text(error)));
    }
  }

  @Override
  public synchronized void close() {
    Thread started = thread;
    if (started == null) {
      return;
    }
    running = false;
    wakeup.signal(Wakeup.Reason.STOP);
    listener.stop();
    held.discard();
    try {
      started.join(STOP_TIMEOUT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    thread = null;
  }
}
