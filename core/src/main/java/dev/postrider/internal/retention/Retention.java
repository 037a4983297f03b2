package dev.postrider.internal.retention;

import dev.postrider.archive.ArchiveStorage;
import dev.postrider.error.DatabaseError;
import dev.postrider.error.RefusedException;
import dev.postrider.internal.archive.Archive;
import dev.postrider.internal.archive.ArchiveReport;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.jdbc.Database.Session;
import dev.postrider.internal.text.Silenced;
import dev.postrider.internal.wake.Wakeup;
import dev.postrider.observe.RelayListener;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Carries out the retention until it is stopped. Every relay has one; the database gives the turn
 * to one of them at a time. Takes a connection only while it works. Stop it from any thread.
 */
public final class Retention implements Runnable {
  /** A relay that has just started has better things to do. */
  private static final Duration FIRST_LOOK = Duration.ofMinutes(1);

  private static final Duration HOLD_EVERY = Duration.ofSeconds(30);

  private final DataSource dataSource;
  private final Schema schema;
  private final Database database;
  private final RetentionConfig config;
  private final RetentionCalls calls;
  private final RelayListener listener;
  private final Duration holdEvery;
  private final long started = System.nanoTime();
  private final Wakeup wakeup = new Wakeup();
  private final Throttle throttle = new Throttle();

  /** What was told of tasks that could not run. Used by one thread. */
  private final EnumMap<RetentionTask, String> skipped = new EnumMap<>(RetentionTask.class);

  private volatile boolean stopping;

  public Retention(
      DataSource dataSource,
      Schema schema,
      RetentionConfig config,
      String relay,
      RelayListener listener) {
    this(dataSource, schema, config, relay, listener, HOLD_EVERY);
  }

  Retention(
      DataSource dataSource,
      Schema schema,
      RetentionConfig config,
      String relay,
      RelayListener listener,
      Duration holdEvery) {
    this.dataSource = dataSource;
    this.schema = schema;
    this.database = new Database(dataSource, schema, RetentionCalls.ROLE);
    this.config = config;
    this.calls = new RetentionCalls(relay + "/" + UUID.randomUUID(), config);
    this.listener = listener;
    this.holdEvery = holdEvery;
  }

  /** Ends the run after the step at hand. */
  public void stop() {
    stopping = true;
    wakeup.signal(Wakeup.Reason.STOP);
  }

  @Override
  public void run() {
    try {
      tellAges(knownAges());
      Duration interval = config.interval();
      pause(interval.compareTo(FIRST_LOOK) < 0 ? interval : FIRST_LOOK);
      while (!stopping) {
        runDue();
        pause(interval);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Does what is due now, unless another relay is at it. */
  void runDue() throws InterruptedException {
    try {
      Map<RetentionTask, Duration> wanted = wanted();
      while (!stopping) {
        @Nullable RetentionTask task = calls.next(database, wanted);
        if (task == null) {
          break;
        }
        if (!carryOut(task)) {
          return;
        }
      }
      if (stopping) {
        calls.leave(database);
      } else {
        tellAges(calls.ages(database));
      }
    } catch (SQLException | RuntimeException e) {
      // The database is away, or a role lacks its grants. The next look tries again.
      listener.retentionFailed("all", e);
    }
  }

  /** None if the database is away, which the first look tells. */
  private Map<String, Duration> knownAges() {
    try {
      return calls.ages(database);
    } catch (SQLException | RuntimeException e) {
      return Map.of();
    }
  }

  private void tellAges(Map<String, Duration> known) {
    for (RetentionTask task : config.periods().keySet()) {
      Duration age = known.getOrDefault(task.label(), since(started));
      listener.retentionAge(task.label(), age);
    }
  }

  /**
   * What this relay may do. Where another one archives messages, it leaves them alone: a task that
   * it took and could not carry out would keep the other one from it.
   */
  private Map<RetentionTask, Duration> wanted() throws SQLException {
    EnumMap<RetentionTask, Duration> wanted = new EnumMap<>(RetentionTask.class);
    wanted.putAll(config.periods());
    if (config.archive() == null && wanted.containsKey(RetentionTask.MESSAGES)) {
      try {
        calls.checkMayRemove(database);
      } catch (RefusedException e) {
        skip(RetentionTask.MESSAGES, Silenced.text(e));
        wanted.remove(RetentionTask.MESSAGES);
      }
    }
    return wanted;
  }

  /** Once for each reason, not at every look. */
  private void skip(RetentionTask task, String reason) {
    if (!reason.equals(skipped.put(task, reason))) {
      listener.retentionSkipped(task.label(), reason);
    }
  }

  /** False if the database could not be told that the task failed: the others would fail too. */
  private boolean carryOut(RetentionTask task) throws InterruptedException {
    long start = System.nanoTime();
    try {
      RetentionConfig.@Nullable Archiving archive = config.archive();
      @Nullable Ended ended =
          task == RetentionTask.MESSAGES && archive != null ? archive(archive) : steps(task);
      if (ended == null) {
        skip(task, "another archive run is going on");
        return true;
      }
      skipped.remove(task);
      if (ended.done) {
        listener.retained(task.label(), ended.removed, since(start));
      } else {
        listener.retentionStopped(task.label(), ended.removed, since(start));
      }
      return true;
    } catch (SQLException | IOException | RuntimeException e) {
      listener.retentionFailed(task.label(), e);
      return recorded(task, e);
    }
  }

  private boolean recorded(RetentionTask task, Exception error) {
    try {
      calls.end(database, task, 0, Silenced.text(error), false);
      return true;
    } catch (SQLException | RuntimeException e) {
      return false;
    }
  }

  /**
   * @param done false if the relay stops or another one has the turn
   */
  private record Ended(long removed, boolean done) {}

  private Ended steps(RetentionTask task) throws SQLException, InterruptedException {
    long removed = 0;
    @Nullable SQLException trouble = null;
    RetentionCalls.Step step = RetentionCalls.Step.NONE;
    try (Session session = database.open()) {
      while (!step.done() && !step.lost() && !stopping) {
        long start = System.nanoTime();
        try {
          step = calls.step(session, task, throttle.rows());
          removed += step.removed();
        } catch (SQLException e) {
          if (DatabaseError.of(e).connectionLost()
              || !calls.skip(session, task, Silenced.text(e))) {
            throw e;
          }
          trouble = trouble == null ? e : trouble;
        }
        pause(throttle.after(since(start)));
      }
    }
    if (trouble != null) {
      throw trouble;
    }
    return new Ended(removed, step.done());
  }

  /** Null if an operator archives. */
  private @Nullable Ended archive(RetentionConfig.Archiving archive)
      throws SQLException, IOException {
    try (Turn turn = new Turn(database, calls.holder(), config.interval(), holdEvery);
        ArchiveStorage storage = archive.storage().open()) {
      @Nullable ArchiveReport report =
          new Archive(dataSource, schema, archive.config(), storage)
              .tryRun("retention", new Slowly(turn)::goOn);
      if (report == null) {
        return null;
      }
      long removed = report.removed() + report.trimmed();
      boolean done = !report.stopped();
      calls.end(database, RetentionTask.MESSAGES, removed, null, done);
      return new Ended(removed, done);
    }
  }

  /** Pauses between the pages of an archive run, and looks whether it still has the turn. */
  private final class Slowly {
    private final Turn turn;
    private long worked = System.nanoTime();

    Slowly(Turn turn) {
      this.turn = turn;
    }

    boolean goOn(ArchiveReport report) {
      try {
        pause(throttle.after(since(worked)));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
      worked = System.nanoTime();
      return !stopping && turn.held();
    }
  }

  private void pause(Duration time) throws InterruptedException {
    if (!stopping) {
      wakeup.pause(time);
    }
  }

  private static Duration since(long startNanos) {
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }
}
