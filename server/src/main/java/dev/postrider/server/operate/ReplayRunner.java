package dev.postrider.server.operate;

import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.server.api.Problem;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Works on replay jobs behind the calls that started them, a few at a time. A job that is stopped
 * with the server can be resumed. Thread-safe.
 */
final class ReplayRunner implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ReplayRunner.class);
  private static final int JOBS_MAX = 4;
  private static final int STOP_SECONDS = 5;

  private final Replay replay;
  private final Set<Long> running = ConcurrentHashMap.newKeySet();
  private final Semaphore places = new Semaphore(JOBS_MAX);
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          JOBS_MAX,
          task -> {
            Thread thread = new Thread(task, "postrider-replay");
            thread.setDaemon(true);
            return thread;
          });

  ReplayRunner(Replay replay) {
    this.replay = replay;
  }

  /** Takes a place for a job, before the job is made. */
  void reserve() {
    if (!places.tryAcquire()) {
      throw Problem.conflict(
              JOBS_MAX + " replays run here already; wait for one to end, or stop one")
          .toException();
    }
  }

  void release() {
    places.release();
  }

  /** Refuses a job that runs here, or has not noticed yet that it was stopped. */
  void refuseIfRunning(long job) {
    if (running.contains(job)) {
      throw Problem.conflict("replay " + job + " still runs here; stop it, or try again soon")
          .toException();
    }
  }

  /** Works on a job in the place that was reserved. */
  void run(String actor, long job, Pacer pacer) {
    running.add(job);
    threads.execute(
        () -> {
          try {
            replay.run(actor, job, pacer, progress -> !Thread.currentThread().isInterrupted());
          } catch (SQLException | RuntimeException e) {
            log.warn(
                "{}",
                LogLine.of("replay_failed").put("job", job).put("error", Silenced.text(e)),
                Silenced.of(e));
          } finally {
            running.remove(job);
            release();
          }
        });
  }

  @Override
  public void close() {
    threads.shutdownNow();
    try {
      if (!threads.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
        log.warn("a replay did not stop in time; it can be resumed");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
