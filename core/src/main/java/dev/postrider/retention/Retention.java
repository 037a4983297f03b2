package dev.postrider.retention;

import dev.postrider.archive.Archive;
import dev.postrider.archive.ArchiveReport;
import dev.postrider.archive.ArchiveStorage;
import dev.postrider.observe.RelayListener;
import dev.postrider.store.Database;
import dev.postrider.store.Database.Session;
import dev.postrider.store.Schema;
import dev.postrider.wake.Wakeup;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Carries out the retention until it is stopped. Every relay has one; the database gives the turn
 * to one of them at a time. Takes a connection only while it works. Stop it from any thread.
 */
public final class Retention implements Runnable {
  private static final String NEXT =
      "select postrider.retention_next(?, ?::interval, ?::text[], ?::interval[])";
  private static final String STEP =
      "select removed, done from postrider.retention_step(?, ?::interval, ?, ?::interval, ?)";
  private static final String HOLD = "select postrider.retention_hold(?, ?::interval)";
  private static final String END = "select postrider.retention_end(?, ?, ?, ?)::text";
  private static final String LEAVE = "select postrider.retention_leave(?)::text";

  /** A relay that has just started has better things to do. */
  private static final Duration FIRST_LOOK = Duration.ofMinutes(1);

  private static final Duration HOLD_EVERY = Duration.ofSeconds(30);

  private final DataSource dataSource;
  private final Schema schema;
  private final Database database;
  private final RetentionConfig config;
  private final String holder;
  private final RelayListener listener;
  private final Wakeup wakeup = new Wakeup();
  private final Throttle throttle = new Throttle();
  private volatile boolean stopping;

  public Retention(
      DataSource dataSource,
      Schema schema,
      RetentionConfig config,
      String relay,
      RelayListener listener) {
    this.dataSource = dataSource;
    this.schema = schema;
    this.database = new Database(dataSource, schema);
    this.config = config;
    this.holder = relay + "/" + UUID.randomUUID();
    this.listener = listener;
  }

  /** Ends the run after the step at hand. */
  public void stop() {
    stopping = true;
    wakeup.signal(Wakeup.Reason.STOP);
  }

  @Override
  public void run() {
    try {
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
      while (!stopping) {
        task = next();
        if (task == null) {
          return;
        }
        carryOut(task);
        task = null;
      }
      database.one(LEAVE, row -> row.getString(1), holder);
    } catch (SQLException | RuntimeException e) {
      // The database is away, or a role lacks its grants. The next look tries again.
      listener.retentionFailed(task == null ? "all" : task.label(), e);
    }
  }

  private @Nullable RetentionTask next() throws SQLException {
    List<String> tasks = new ArrayList<>();
    List<String> periods = new ArrayList<>();
    config
        .periods()
        .forEach(
            (task, period) -> {
              tasks.add(task.label());
              periods.add(period.toString());
            });
    if (tasks.isEmpty()) {
      return null;
    }
    @Nullable String label =
        database.one(
            NEXT,
            row -> row.getString(1),
            holder,
            config.interval().toString(),
            tasks.toArray(String[]::new),
            periods.toArray(String[]::new));
    return label == null ? null : RetentionTask.valueOf(label.toUpperCase(Locale.ROOT));
  }

  private void carryOut(RetentionTask task) throws SQLException, InterruptedException {
    long start = System.nanoTime();
    try {
      RetentionConfig.@Nullable Archiving archive = config.archive();
      long removed =
          task == RetentionTask.MESSAGES && archive != null ? archive(archive) : steps(task);
      listener.retained(task.label(), removed, since(start));
    } catch (SQLException | IOException | RuntimeException e) {
      listener.retentionFailed(task.label(), e);
      database.one(
          END, row -> row.getString(1), holder, task.label(), 0L, String.valueOf(e.getMessage()));
    }
  }

  private long steps(RetentionTask task) throws SQLException, InterruptedException {
    long removed = 0;
    String period = config.periods().getOrDefault(task, task.usual()).toString();
    try (Session session = database.open()) {
      Step step = new Step(0, false);
      while (!step.done && !stopping) {
        long start = System.nanoTime();
        step =
            session.one(
                STEP,
                row -> new Step(row.getLong(1), row.getObject(2) == null || row.getBoolean(2)),
                holder,
                config.interval().toString(),
                task.label(),
                period,
                throttle.rows());
        removed += step.removed;
        pause(throttle.after(since(start)));
      }
    }
    return removed;
  }

  /** A step without an answer: another relay has the turn. */
  private record Step(long removed, boolean done) {}

  private long archive(RetentionConfig.Archiving archive) throws SQLException, IOException {
    ArchiveReport report;
    try (ArchiveStorage storage = archive.storage().open()) {
      report =
          new Archive(dataSource, schema, archive.config(), storage)
              .run("retention", new Slowly()::goOn);
    }
    if (!report.stopped()) {
      database.one(
          END,
          row -> row.getString(1),
          holder,
          RetentionTask.MESSAGES.label(),
          report.removed() + report.trimmed(),
          null);
    }
    return report.removed() + report.trimmed();
  }

  /** Pauses between the pages of an archive run, and keeps the turn. */
  private final class Slowly {
    private long worked = System.nanoTime();
    private long held = System.nanoTime();

    boolean goOn(ArchiveReport report) {
      try {
        pause(throttle.after(since(worked)));
        if (since(held).compareTo(HOLD_EVERY) > 0) {
          held = System.nanoTime();
          database.one(HOLD, row -> row.getBoolean(1), holder, config.interval().toString());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      } catch (SQLException e) {
        return false;
      }
      worked = System.nanoTime();
      return !stopping;
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
