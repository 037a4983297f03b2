package dev.postrider.webhook;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of one endpoint: a worker per request at a time, and those that watch the clock. A
 * thread per request rather than an event loop, because a look-up of a name blocks, and would hold
 * up every request of a loop. Thread-safe.
 */
final class RequestThreads implements AutoCloseable {
  private static final long IDLE_SECONDS = 30;
  private static final long REPEAT_SECONDS = 15;

  private final ThreadPoolExecutor pool;
  private final ScheduledThreadPoolExecutor timer;

  RequestThreads(String name, int threads) {
    // The queue holds no more than the places there are: whoever submits has taken one.
    this.pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(threads),
            factory("postrider-webhook-" + name + "-"));
    pool.allowCoreThreadTimeOut(true);
    // Two, so that closing an old connection politely holds up no deadline.
    this.timer =
        new ScheduledThreadPoolExecutor(2, factory("postrider-webhook-timer-" + name + "-"));
    timer.setRemoveOnCancelPolicy(true);
  }

  private static ThreadFactory factory(String prefix) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, prefix + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  void execute(Runnable task) {
    pool.execute(task);
  }

  ScheduledExecutorService timer() {
    return timer;
  }

  /** Does it every now and then until closed. */
  void repeat(Runnable task) {
    ScheduledFuture<?> unused =
        timer.scheduleWithFixedDelay(task, REPEAT_SECONDS, REPEAT_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    pool.shutdownNow();
    timer.shutdownNow();
  }
}
