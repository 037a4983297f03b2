package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Progress;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayCount;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.replay.ReplayJob;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Sends delivered messages again. */
@Command(
    name = "replay",
    description = {
      "Send delivered messages again. Shows the count and asks first.",
      "To continue a stopped replay: replay resume JOB."
    },
    subcommands = {ReplayCommand.Jobs.class, ReplayCommand.Resume.class, ReplayCommand.Stop.class},
    footer = {
      "  ./postrider replay --namespace shop --topic orders --from 6h --dry-run",
      "  ./postrider replay --aggregate-type order --aggregate-id o-1 --rate 500 --yes"
    })
final class ReplayCommand extends PostriderCommand {
  @Mixin FilterOptions filter = new FilterOptions();

  @Option(names = "--id", paramLabel = "ID", description = "Only this message. Can be repeated.")
  List<String> ids = new ArrayList<>();

  @Option(
      names = "--subscription",
      paramLabel = "NAME",
      description =
          "Only into this subscription of the topic, also what it never had; goes with --namespace"
              + " and --topic.")
  @Nullable String subscription;

  @Option(names = "--dry-run", description = "Only count.")
  boolean dryRun;

  @Option(names = "--rate", paramLabel = "N", description = "Maximum messages per second.")
  @Nullable Double rate;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask.")
  boolean yes;

  @Override
  int run(Context context) throws Exception {
    checkRate(this, rate);
    ReplayFilter wanted = wanted();
    Replay replay = new Replay(context.dataSource(), context.schema());
    ReplayCount count = replay.count(wanted, n -> screen().progress("counting: " + Words.count(n)));
    screen().progress("");
    String summary =
        "%s match, %s would be sent again, %s skipped (not delivered)"
            .formatted(
                Words.count(count.matched(), "message"),
                Words.count(count.requeued()),
                Words.count(count.skipped()));
    if (dryRun) {
      if (context.json()) {
        screen()
            .json(
                new Fields()
                    .with("matched", count.matched())
                    .with("requeued", count.requeued())
                    .with("skipped", count.skipped())
                    .map());
      } else {
        screen().line(summary + ".");
      }
      return ExitCode.OK;
    }
    if (count.requeued() == 0) {
      throw new Failure(ExitCode.TROUBLE, "nothing to replay: " + summary);
    }
    context.confirm(yes, summary + ". Replay?");
    ReplayJob job = replay.start(context.actor(), wanted);
    return carryOut(context, replay, job.id(), rate, count.matched());
  }

  private ReplayFilter wanted() {
    Map<String, String> conditions = filter.conditions(this);
    if (subscription != null) {
      if (filter.namespace == null || filter.topic == null) {
        throw usage("--subscription goes with --namespace and --topic");
      }
      conditions.put("subscription", subscription);
    }
    if (ids.isEmpty() == conditions.isEmpty()) {
      throw usage("which messages? Give conditions, or --id");
    }
    return ids.isEmpty()
        ? ReplayFilter.of(conditions)
        : ReplayFilter.ids(ids.stream().map(id -> Options.id(this, id)).toList());
  }

  /** Refuses it before anything is changed. */
  static void checkRate(PostriderCommand command, @Nullable Double rate) {
    if (rate != null && !(rate > 0)) {
      throw command.usage("--rate: must be above 0 messages per second, got " + rate);
    }
  }

  /** Works on a job with a progress line; Ctrl-C stops it where it can be resumed. */
  static int carryOut(
      Context context, Replay replay, long job, @Nullable Double rate, long expected)
      throws Exception {
    StopSignal stop = StopSignal.install(Duration.ofSeconds(90));
    Pacer pacer =
        rate == null
            ? Pacer.unlimited()
            : new Pacer(rate, System::nanoTime, time -> stopOrWait(stop, time));
    Progress progress = new Progress(context.screen(), "messages", expected);
    ReplayJob end =
        replay.run(
            context.actor(),
            job,
            pacer,
            state -> {
              progress.at(state.matched());
              return !stop.isAsked();
            });
    progress.done();
    if (context.json()) {
      context.screen().json(json(end));
    } else {
      context
          .screen()
          .line(
              "Replay %d %s: %s sent again, %s skipped."
                  .formatted(
                      job,
                      Words.lower(end.state()),
                      Words.count(end.requeued(), "message"),
                      Words.count(end.skipped())));
      if (end.state() != ReplayJob.State.DONE) {
        context.screen().note("go on with: ./postrider replay resume " + job);
      }
    }
    return end.state() == ReplayJob.State.DONE ? ExitCode.OK : ExitCode.TROUBLE;
  }

  private static void stopOrWait(StopSignal stop, Duration time) throws InterruptedException {
    boolean unused = stop.await(time);
  }

  static Map<String, Object> json(ReplayJob job) {
    return new Fields()
        .with("job", job.id())
        .with("state", job.state())
        .with("matched", job.matched())
        .with("requeued", job.requeued())
        .with("skipped", job.skipped())
        .with("created_by", job.createdBy())
        .with("created_at", job.createdAt())
        .with("finished_at", job.finishedAt())
        .map();
  }

  /** The last replays. */
  @Command(
      name = "jobs",
      description = "List recent replays, newest first.",
      footer = "  ./postrider replay jobs")
  static final class Jobs extends PostriderCommand {
    @Override
    int run(Context context) throws Exception {
      List<ReplayJob> jobs = new Replay(context.dataSource(), context.schema()).jobs(50);
      if (context.json()) {
        screen()
            .json(
                new Fields().with("items", jobs.stream().map(ReplayCommand::json).toList()).map());
        return ExitCode.OK;
      }
      Table table =
          new Table("job", "state", "sent", "skipped", "by", "started", "filter")
              .optional("by", "started");
      for (ReplayJob job : jobs) {
        table.row(
            job.id(),
            Words.lower(job.state()),
            Words.count(job.requeued()),
            Words.count(job.skipped()),
            job.createdBy(),
            Words.time(job.createdAt()),
            job.filter());
      }
      if (table.isEmpty()) {
        screen().line("No replay.");
      } else {
        screen().table(table);
      }
      return ExitCode.OK;
    }
  }

  /** Goes on with a replay. */
  @Command(
      name = "resume",
      description = "Continue a replay that was stopped or whose process died.",
      footer = "  ./postrider replay resume 12 --rate 500")
  static final class Resume extends PostriderCommand {
    @Parameters(paramLabel = "JOB", description = "Its number.")
    long job;

    @Option(names = "--rate", paramLabel = "N", description = "Maximum messages per second.")
    @Nullable Double rate;

    @Override
    int run(Context context) throws Exception {
      checkRate(this, rate);
      Replay replay = new Replay(context.dataSource(), context.schema());
      ReplayJob resumed = replay.resume(context.actor(), job);
      if (resumed.state() == ReplayJob.State.DONE) {
        screen().note("replay " + job + " was done already");
      }
      return carryOut(context, replay, job, rate, 0);
    }
  }

  /** Stops a replay that another process runs. */
  @Command(
      name = "stop",
      description = "Stop a replay, in whatever process it runs.",
      footer = "  ./postrider replay stop 12")
  static final class Stop extends PostriderCommand {
    @Parameters(paramLabel = "JOB", description = "Its number.")
    long job;

    @Override
    int run(Context context) throws Exception {
      ReplayJob stopped =
          new Replay(context.dataSource(), context.schema()).stop(context.actor(), job);
      if (context.json()) {
        screen().json(json(stopped));
      } else {
        screen().line("Replay %d: %s.".formatted(job, Words.lower(stopped.state())));
      }
      return ExitCode.OK;
    }
  }
}
