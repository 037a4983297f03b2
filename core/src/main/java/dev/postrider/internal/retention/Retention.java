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
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Carries out the retention until it is stopped. Every relay has one; the database gives the turn
 * to one of them at a time. Takes a connection only while it works. Stop it from any thread.
 */
public final class Retention implements Runnable {
  private static final String NEXT =
      "select postrider.retention_next(?, ?::interval, ?::text[], ?::interval[], ?)";
  private static final String STEP =
      "select removed, done from postrider.retention_step(?, ?::interval, ?, ?::interval, ?)";
  private static final String SKIP = "select postrider.retention_skip(?, ?, ?)";
  private static final String END = "select postrider.retention_end(?, ?, ?, ?, ?)::text";
  private static final String LEAVE = "select postrider.retention_leave(?)::text";
  private static final String MAY_REMOVE = "select postrider.check_archive_first()::text";
  private static final String AGES =
      """
      select task, extract(epoch from now() - finished_at)::bigint as seconds
        from postrider.retention where finished_at is not null
      """;

  /** What this work needs; an archive needs the operator's role too. */
  private static final String ROLE = "relay";

  /** A relay that has just started has better things to do. */
  private static final Duration FIRST_LOOK = Duration.ofMinutes(1);

  private static final Duration HOLD_EVERY = Duration.ofSeconds(30);

  private final DataSource dataSource;
  private final Schema schema;
  private final Database database;
  private final RetentionConfig config;
  private final String holder;
  private final RelayListener listener;
  private final Duration holdEvery;
  private final long started = System.nanoTime();
  private final Wakeup wakeup = new Wakeup();
  private final Throttle throttle = new Throttle();
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
    this.database = new Database(dataSource, schema, ROLE);
    this.config = config;
    this.holder = relay + "/" + UUID.randomUUID();
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
      tellAges(Map.of());
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
    @Nullable RetentionTask task = null;
    try {
      Map<RetentionTask, Duration> wanted = wanted();
      while (!stopping) {
        task = next(wanted);
        if (task == null) {
          break;
        }
        carryOut(task);
        task = null;
      }
      if (stopping) {
        database.one(LEAVE, row -> row.getString(1), holder);
      } else {
        Map<String, Duration> ages = new HashMap<>();
        List<Duration> unused =
            database.list(
                AGES,
                row -> ages.put(row.getString("task"), Duration.ofSeconds(row.getLong("seconds"))));
        tellAges(ages);
      }
    } catch (SQLException | RuntimeException e) {
      // The database is away, or a role lacks its grants. The next look tries again.
      listener.retentionFailed(task == null ? "all" : task.label(), e);
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
        database.one(MAY_REMOVE, row -> row.getString(1));
      } catch (RefusedException e) {
        listener.retentionFailed(RetentionTask.MESSAGES.label(), e);
        wanted.remove(RetentionTask.MESSAGES);
      }
    }
    return wanted;
  }

  private @Nullable RetentionTask next(Map<RetentionTask, Duration> wanted) throws SQLException {
    if (wanted.isEmpty()) {
      return null;
    }
    List<String> tasks = new ArrayList<>();
    List<String> periods = new ArrayList<>();
    wanted.forEach(
        (task, period) -> {
          tasks.add(task.label());
          periods.add(period.toString());
        });
    @Nullable String label =
        database.one(
            NEXT,
            row -> row.getString(1),
            holder,
            config.interval().toString(),
            tasks.toArray(String[]::new),
            periods.toArray(String[]::new),
            config.archive() != null);
    return label == null ? null : RetentionTask.valueOf(label.toUpperCase(Locale.ROOT));
  }

  private void carryOut(RetentionTask task) throws SQLException, InterruptedException {
    long start = System.nanoTime();
    try {
      RetentionConfig.@Nullable Archiving archive = config.archive();
      Ended ended =
          task == RetentionTask.MESSAGES && archive != null ? archive(archive) : steps(task);
      if (ended.done) {
        listener.retained(task.label(), ended.removed, since(start));
      } else {
        listener.retentionStopped(task.label(), ended.removed, since(start));
      }
    } catch (SQLException | IOException | RuntimeException e) {
      listener.retentionFailed(task.label(), e);
      end(task, 0, Silenced.text(e), false);
    }
  }

  /**
   * @param done false if the relay stops or another one has the turn
   */
  private record Ended(long removed, boolean done) {}

  private void end(RetentionTask task, long removed, @Nullable String error, boolean done)
      throws SQLException {
    database.one(END, row -> row.getString(1), holder, task.label(), removed, error, done);
  }

  private Ended steps(RetentionTask task) throws SQLException, InterruptedException {
    long removed = 0;
    @Nullable SQLException trouble = null;
    Step step = new Step(0, false, false);
    try (Session session = database.open()) {
      while (!step.done && !step.lost && !stopping) {
        long start = System.nanoTime();
        try {
          step = step(session, task);
          removed += step.removed;
        } catch (SQLException e) {
          if (DatabaseError.of(e).connectionLost() || !skip(session, task, e)) {
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
    return new Ended(removed, step.done);
  }

  /**
   * @param lost another relay has the turn
   */
  private record Step(long removed, boolean done, boolean lost) {}

  private Step step(Session session, RetentionTask task) throws SQLException {
    return session.one(
        STEP,
        row -> new Step(row.getLong(1), row.getBoolean(2), row.getObject(2) == null),
        holder,
        config.interval().toString(),
        task.label(),
        config.periods().getOrDefault(task, task.defaultPeriod()).toString(),
        throttle.rows());
  }

  /** Whether the task can go on behind what failed. */
  private boolean skip(Session session, RetentionTask task, SQLException error)
      throws SQLException {
    return session.one(SKIP, row -> row.getBoolean(1), holder, task.label(), Silenced.text(error));
  }

  private Ended archive(RetentionConfig.Archiving archive) throws SQLException, IOException {
    try (Turn turn = new Turn(database, holder, config.interval(), holdEvery);
        ArchiveStorage storage = archive.storage().open()) {
      ArchiveReport report =
          new Archive(dataSource, schema, archive.config(), storage)
              .run("retention", new Slowly(turn)::goOn);
      long removed = report.removed() + report.trimmed();
      boolean done = !report.stopped();
      end(RetentionTask.MESSAGES, removed, null, done);
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
