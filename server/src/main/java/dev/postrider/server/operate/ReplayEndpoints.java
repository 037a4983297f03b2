package dev.postrider.server.operate;

import dev.postrider.access.Permission;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayCount;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.replay.ReplayJob;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Listing;
import dev.postrider.server.api.Paging;
import dev.postrider.server.api.Problem;
import dev.postrider.server.api.Values;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Replays: count first, start, watch, stop, resume. */
final class ReplayEndpoints {
  static final Field RATE =
      Field.of("rate", Kind.NUMBER, "Messages per second; as fast as it goes if not given");

  /** Between two steps a replay does not see that it was stopped. */
  private static final double RATE_MIN = 0.1;

  private static final Field ID =
      Field.of("id", Kind.INTEGER, "The job's number").between(1, Long.MAX_VALUE);

  private final Replay replay;
  private final ReplayRunner runner;

  ReplayEndpoints(DataSource dataSource, Schema schema) {
    this.replay = new Replay(dataSource, schema);
    this.runner = new ReplayRunner(replay);
  }

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/replays", Permission.READ)
            .about("replays", "The last jobs, newest first")
            .query(Paging.LIMIT)
            .answersList(ReplayJob.class)
            .handledBy(call -> Listing.of(replay.jobs(Paging.limit(call.query())))),
        Endpoint.get("/v1/replays/{id}", Permission.READ)
            .about("replays", "How far a job is")
            .path(ID)
            .answers(ReplayJob.class)
            .problems(404)
            .handledBy(this::find),
        Endpoint.post("/v1/replays", Permission.OPERATE)
            .about("replays", "Send delivered messages again; with dry_run only count them")
            .body(
                Field.object("filter", "Those that meet every condition", Conditions.REPLAYS),
                Field.of("ids", Kind.IDS, "These; or a filter").between(1, 1000),
                Field.of("dry_run", Kind.BOOLEAN, "Only count what it would do"),
                RATE)
            .status(202)
            .answers(ReplayJob.class)
            .orAnswers(200, Counted.class, "With dry_run: what it would do")
            .problems(409)
            .handledBy(this::start),
        Endpoint.post("/v1/replays/{id}/stop", Permission.OPERATE)
            .about("replays", "Stop a job before its next step, whichever process runs it")
            .path(ID)
            .answers(ReplayJob.class)
            .problems(404)
            .handledBy(call -> replay.stop(call.actor(), find(call).id())),
        Endpoint.post("/v1/replays/{id}/resume", Permission.OPERATE)
            .about("replays", "Go on with a job that was stopped, or whose process died")
            .path(ID)
            .body(RATE)
            .status(202)
            .answers(ReplayJob.class)
            .problems(404, 409)
            .handledBy(this::resume));
  }

  private ReplayJob find(Call call) throws SQLException {
    long id = Objects.requireNonNull(call.path().number("id"));
    return replay
        .find(id)
        .orElseThrow(() -> Problem.notFound("there is no replay job " + id).toException());
  }

  private Object start(Call call) throws SQLException {
    ReplayFilter filter = filter(call.body());
    if (call.body().flag("dry_run")) {
      call.status(200);
      return counted(filter);
    }
    return run(call, () -> replay.start(call.actor(), filter));
  }

  private Object resume(Call call) throws SQLException {
    long id = find(call).id();
    runner.refuseIfRunning(id);
    return run(call, () -> replay.resume(call.actor(), id));
  }

  /** Makes a job ready. */
  @FunctionalInterface
  private interface Opening {
    ReplayJob open() throws SQLException;
  }

  /** Makes a job ready and returns its number, or null if there is nothing to do. */
  @FunctionalInterface
  interface Numbered {
    @Nullable Long open() throws SQLException;
  }

  private Object run(Call call, Opening opening) throws SQLException {
    List<ReplayJob> opened = new ArrayList<>();
    work(
        call,
        () -> {
          opened.add(opening.open());
          return opened.get(0).id();
        });
    return opened.get(0);
  }

  /** The place comes first: a job that nobody works on should not be there. */
  @Nullable Long work(Call call, Numbered opening) throws SQLException {
    Pacer pacer = pacer(call);
    runner.reserve();
    @Nullable Long job = null;
    try {
      job = opening.open();
    } finally {
      if (job == null) {
        runner.release();
      }
    }
    if (job != null) {
      runner.run(call.actor(), job, pacer);
    }
    return job;
  }

  private static ReplayFilter filter(Values body) {
    Map<String, String> conditions = Conditions.of(body.object("filter"), Conditions.REPLAYS);
    if (body.has("ids") == !conditions.isEmpty()) {
      throw Problem.invalid("filter", "is mandatory: give either ids or a filter with a condition")
          .toException();
    }
    return body.has("ids") ? ReplayFilter.ids(body.ids("ids")) : ReplayFilter.of(conditions);
  }

  private static Pacer pacer(Call call) {
    @Nullable Double rate = call.body().decimal("rate");
    if (rate != null && rate < RATE_MIN) {
      throw Problem.invalid("rate", "must be at least " + RATE_MIN + ", got " + rate).toException();
    }
    return rate == null ? Pacer.unlimited() : Pacer.perSecond(rate);
  }

  /** What a replay would do; at least so many, if it is not complete. */
  record Counted(long matched, @Nullable Long skipped, @Nullable Long requeued, boolean complete) {}

  /** Counted for as long as a caller may be kept waiting. */
  private Object counted(ReplayFilter filter) throws SQLException {
    TimeBudget timeBudget = new TimeBudget();
    long[] soFar = new long[1];
    try {
      ReplayCount count =
          replay.count(
              filter,
              matched -> {
                soFar[0] = matched;
                if (!timeBudget.test(matched)) {
                  throw new StillCounting();
                }
              });
      return new Counted(count.matched(), count.skipped(), count.requeued(), true);
    } catch (StillCounting e) {
      return new Counted(soFar[0], null, null, false);
    }
  }

  private static final class StillCounting extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StillCounting() {
      super("still counting", null, false, false);
    }
  }

  void close() {
    runner.close();
  }
}
