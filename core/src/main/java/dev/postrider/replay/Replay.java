package dev.postrider.replay;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.jdbc.Database.Session;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Sends delivered messages again: same id, same sequence, a delivery number above 1.
 *
 * <p>A replay is a job in the database. Each step requeues a few messages and moves the job's
 * position in one short transaction, so that a replay that was stopped, or whose process died, goes
 * on exactly where it was. Messages that are still queued, dead or discarded are skipped and
 * counted.
 *
 * <p>Messages of one key are replayed in their order, and go before newer messages of the key that
 * still wait; not before those that are in flight at that moment.
 *
 * <p>Thread-safe if the data source is.
 */
public final class Replay {
  private static final String COUNT =
      """
      select * from postrider.replay_count(?::jsonb, ?, ?::uuid, ?::uuid, ?::uuid, ?)
      """;
  private static final String START = "select * from postrider.replay_start(?, ?::jsonb, ?)";
  private static final String SET_STATE = "select * from postrider.replay_set_state(?, ?, ?)";
  private static final String STEP = "select * from postrider.replay_step(?, ?)";
  private static final String FIND = "select * from postrider.replay_job where id = ?";
  private static final String LIST = "select * from postrider.replay_job order by id desc limit ?";

  /** After a step that did nothing for a message. */
  private static final Duration IDLE = Duration.ofMillis(20);

  private final Database database;

  public Replay(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /**
   * A dry run: counts, exactly and in short statements, what a replay would do now.
   *
   * @param progress told the messages matched so far
   */
  public ReplayCount count(ReplayFilter filter, LongConsumer progress) throws SQLException {
    long matched = 0;
    long skipped = 0;
    Page page = new Page(null, null, null, 0, 0, 0, false);
    try (Session session = database.open()) {
      while (!page.done) {
        page = page(session, filter, page);
        matched += page.matched;
        skipped += page.skipped;
        progress.accept(matched);
      }
    }
    return new ReplayCount(matched, skipped);
  }

  /** Opens a job without doing any of it yet. */
  public ReplayJob start(String actor, ReplayFilter filter) throws SQLException {
    RefusedException.ifBlank("actor", actor);
    return database.one(START, Replay::job, actor, filter.json(), filter.ids());
  }

  /**
   * Works on a job until it is done, stopped, or this thread is interrupted.
   *
   * @param goOn told how far it is after each step; false stops
   * @return how far it got
   */
  public ReplayJob run(String actor, long job, Pacer pacer, Predicate<ReplayJob> goOn)
      throws SQLException {
    ReplayJob last = find(job).orElseThrow(() -> unknown(job));
    while (last.state() == ReplayJob.State.RUNNING) {
      Burst burst = burst(last, pacer, goOn);
      last = burst.last();
      if (last.state() == ReplayJob.State.RUNNING
          && !(burst.more() && slept(pacer, burst.pause()))) {
        return stop(actor, job);
      }
    }
    return last;
  }

  /** Steps until it has to wait, and then holds no connection. */
  private record Burst(ReplayJob last, boolean more, Duration pause) {}

  private Burst burst(ReplayJob from, Pacer pacer, Predicate<ReplayJob> goOn) throws SQLException {
    ReplayJob last = from;
    try (Session session = database.open()) {
      while (true) {
        ReplayJob next = Database.repeated(() -> step(session, from.id(), pacer));
        long sent = next.requeued() - last.requeued();
        boolean idle = next.matched() == last.matched(); // it may wait for others
        last = next;
        boolean more = goOn.test(last);
        Duration pause = idle ? IDLE : pacer.sent(sent);
        if (!more || !pause.isZero() || last.state() != ReplayJob.State.RUNNING) {
          return new Burst(last, more, pause);
        }
      }
    }
  }

  private static ReplayJob step(Session session, long job, Pacer pacer) throws SQLException {
    return session.one(STEP, Replay::job, job, pacer.step());
  }

  private static boolean slept(Pacer pacer, Duration pause) {
    try {
      pacer.sleep(pause);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Stops a job before its next step, whichever process runs it. */
  public ReplayJob stop(String actor, long job) throws SQLException {
    return setState(actor, job, false);
  }

  /** Makes a stopped job ready to {@link #run}; one whose process died needs no more than run. */
  public ReplayJob resume(String actor, long job) throws SQLException {
    return setState(actor, job, true);
  }

  private ReplayJob setState(String actor, long job, boolean running) throws SQLException {
    RefusedException.ifBlank("actor", actor);
    if (find(job).isEmpty()) {
      throw unknown(job);
    }
    return database.one(SET_STATE, Replay::job, actor, job, running);
  }

  public Optional<ReplayJob> find(long job) throws SQLException {
    return database.list(FIND, Replay::job, job).stream().findFirst();
  }

  /** The last jobs, newest first. */
  public List<ReplayJob> jobs(int limit) throws SQLException {
    return database.list(LIST, Replay::job, limit);
  }

  private static RefusedException unknown(long job) {
    return new RefusedException("there is no replay job " + job);
  }

  private record Page(
      @Nullable UUID from,
      @Nullable UUID to,
      @Nullable UUID after,
      long sequence,
      long matched,
      long skipped,
      boolean done) {}

  private static Page page(Session session, ReplayFilter filter, Page last) throws SQLException {
    return session.one(
        COUNT,
        Replay::page,
        filter.json(),
        filter.ids(),
        last.from,
        last.to,
        last.after,
        last.sequence);
  }

  private static Page page(ResultSet row) throws SQLException {
    return new Page(
        row.getObject("from_id", UUID.class),
        row.getObject("to_id", UUID.class),
        row.getObject("after_id", UUID.class),
        row.getLong("after_sequence"),
        row.getLong("matched"),
        row.getLong("skipped"),
        row.getBoolean("done"));
  }

  private static ReplayJob job(ResultSet row) throws SQLException {
    return new ReplayJob(
        row.getLong("id"),
        row.getString("filter"),
        ReplayJob.State.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
        row.getLong("matched"),
        row.getLong("requeued"),
        row.getLong("skipped"),
        row.getString("created_by"),
        Objects.requireNonNull(Database.instant(row, "created_at")),
        Objects.requireNonNull(Database.instant(row, "updated_at")),
        Database.instant(row, "finished_at"));
  }
}
