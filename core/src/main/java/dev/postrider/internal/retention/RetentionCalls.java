package dev.postrider.internal.retention;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.jdbc.Database.Session;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The calls of the retention functions.
 *
 * @param holder who has the turn
 */
record RetentionCalls(String holder, RetentionConfig config) {
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
      select task, extract(epoch from now() - coalesce(finished_at, since))::bigint as seconds
        from postrider.retention
      """;

  /** What this work needs; an archive needs the operator's role too. */
  static final String ROLE = "relay";

  /** The task whose turn this relay gets; null if none is due. */
  @Nullable RetentionTask next(Database database, Map<RetentionTask, Duration> wanted)
      throws SQLException {
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

  void end(
      Database database, RetentionTask task, long removed, @Nullable String error, boolean done)
      throws SQLException {
    database.one(END, row -> row.getString(1), holder, task.label(), removed, error, done);
  }

  /**
   * One step of a task.
   *
   * @param lost another relay has the turn
   */
  record Step(long removed, boolean done, boolean lost) {
    static final Step NONE = new Step(0, false, false);
  }

  Step step(Session session, RetentionTask task, int rows) throws SQLException {
    return session.one(
        STEP,
        row -> new Step(row.getLong(1), row.getBoolean(2), row.getObject(2) == null),
        holder,
        config.interval().toString(),
        task.label(),
        config.periods().getOrDefault(task, task.defaultPeriod()).toString(),
        rows);
  }

  /** Whether the task can go on behind what failed. */
  boolean skip(Session session, RetentionTask task, String error) throws SQLException {
    return session.one(SKIP, row -> row.getBoolean(1), holder, task.label(), error);
  }

  /** Gives the turn back. */
  void leave(Database database) throws SQLException {
    database.one(LEAVE, row -> row.getString(1), holder);
  }

  /** Refused if another relay archives messages. */
  void checkMayRemove(Database database) throws SQLException {
    database.one(MAY_REMOVE, row -> row.getString(1));
  }

  /** How long ago each task came to its end, or was first started if it never did, by its name. */
  Map<String, Duration> ages(Database database) throws SQLException {
    Map<String, Duration> ages = new HashMap<>();
    List<Duration> unused =
        database.list(
            AGES,
            row -> ages.put(row.getString("task"), Duration.ofSeconds(row.getLong("seconds"))));
    return ages;
  }
}
