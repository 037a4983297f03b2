package dev.postrider.rabbitmq;

import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.message.Outcome;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a connection: opens it, and opens another when it ends, after a pause that doubles from 100
 * ms to 10 s. Thread-safe; everything that waits for the network runs on its one thread.
 */
final class Reconnector implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Reconnector.class);
  private static final long PAUSE_MIN_MILLIS = 100;
  private static final long PAUSE_MAX_MILLIS = 10_000;
  private static final long SWEEP_MILLIS = 100;
  private static final long FIRST_WAIT_MILLIS = 2_000;
  private static final int ABORT_MILLIS = 2_000;
  private static final long CLOSE_WAIT_MILLIS = 5_000;

  private final RabbitConfig config;
  private final NettyConnections connections;
  private final Suspects suspects;
  private final ScheduledExecutorService worker;
  private final CountDownLatch firstTry = new CountDownLatch(1);
  private volatile @Nullable Link link;
  private volatile Outcome absence = Outcome.unavailable("not_connected", "not connected yet");
  private volatile boolean closed;
  private long pauseMillis = PAUSE_MIN_MILLIS;

  Reconnector(RabbitConfig config) {
    this.config = config;
    this.connections = new NettyConnections(config.broker());
    // With pipelining, all of a key's messages would have to wait for the first one's answer.
    this.suspects = new Suspects(!config.exchange().isFixed() && !config.pipelining());
    this.worker =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "postrider-rabbitmq");
              thread.setDaemon(true);
              return thread;
            });
    sweep();
    execute(this::connect);
  }

  /** The connection; null if there is none. Waits a little for the very first. */
  @Nullable Link link() {
    try {
      boolean unused = firstTry.await(FIRST_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return link;
  }

  /** Why there is no connection. */
  Outcome absence() {
    return absence;
  }

  private void connect() {
    if (closed) {
      return;
    }
    NettyConnections.Open open = null;
    try {
      open = connections.open(null);
      declare(open);
      Link fresh = new Link(open, config, suspects, this::execute, () -> execute(this::ended));
      fresh.open();
      link = fresh; // with all its channels: a key's way depends on how many there are
      pauseMillis = PAUSE_MIN_MILLIS;
      log.info("{}", line("outbox_rabbitmq_connected"));
    } catch (Throwable e) {
      failed(e, open);
    } finally {
      firstTry.countDown();
    }
  }

  /**
   * A queue that is otherwise than we would have it is no reason to deliver nothing at all, unless
   * what its consumers reject would be lost.
   */
  private void declare(NettyConnections.Open open) {
    try {
      config.topology().declare(open.connection());
    } catch (TopologyException e) {
      if (e.losesDeadLetters()) {
        throw e;
      }
      log.error("{}", LogLine.of("outbox_rabbitmq_topology").put("differences", e.differences()));
    }
  }

  private void failed(Throwable e, NettyConnections.@Nullable Open open) {
    Outcome why = Replies.notConnected(e);
    if (!closed && !why.equals(absence)) { // an outage of hours is one line, not thousands
      log.warn("{}", line("outbox_rabbitmq_not_connected").put("why", why));
    }
    link = null;
    if (!closed) {
      absence = why;
    }
    if (open != null) {
      open.connection().abort(ABORT_MILLIS);
    }
    connectLater();
  }

  private void connectLater() {
    long jitter = ThreadLocalRandom.current().nextLong(pauseMillis / 4 + 1);
    later(this::connect, pauseMillis + jitter);
    pauseMillis = Math.min(pauseMillis * 2, PAUSE_MAX_MILLIS);
  }

  /** On the worker's thread, once per link. */
  private void ended() {
    Link over = link;
    if (over == null || closed) {
      return;
    }
    Outcome why = over.end();
    if (why != null) {
      absence = why;
      link = null;
      log.warn("{}", line("outbox_rabbitmq_disconnected").put("why", why));
      over.close();
      connectLater();
    }
  }

  private void sweep() {
    Link current = link;
    later(this::sweep, SWEEP_MILLIS); // first, so that no fault ends it
    if (current != null) {
      current.sweep(System.nanoTime());
    }
  }

  private void execute(Runnable task) {
    later(task, 0);
  }

  /** What comes after the close has nothing to do any more. */
  private void later(Runnable task, long millis) {
    try {
      Future<?> unused = worker.schedule(() -> guarded(task), millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("closed, so not done: {}", task);
    }
  }

  private LogLine line(String event) {
    return LogLine.of(event).put("broker", config.broker());
  }

  private static void guarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      log.error("{}", LogLine.of("outbox_rabbitmq_fault"), Silenced.of(e));
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    absence = Outcome.unavailable("closed", "the destination is closed");
    worker.shutdownNow();
    try {
      boolean unused = worker.awaitTermination(CLOSE_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Link last = link;
    link = null;
    if (last != null) {
      last.fail(absence);
      last.close();
    }
    firstTry.countDown();
    connections.close();
  }
}
