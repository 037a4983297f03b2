package dev.postrider.cli.command;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.ArchiveStorage;
import dev.postrider.cli.config.ArchiveSettings;
import dev.postrider.cli.config.ConfigPart;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Progress;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.cli.settings.Settings;
import dev.postrider.cli.settings.Units;
import dev.postrider.internal.archive.Archive;
import dev.postrider.internal.archive.ArchivePlan;
import dev.postrider.internal.archive.ArchiveReport;
import dev.postrider.internal.retention.Purge;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Moves old messages to files. */
@Command(
    name = "archive",
    description = {
      "Write delivered messages older than the retention to compressed files, then remove them"
          + " from the database. Shows the count and asks first.",
      "Pending and unresolved dead messages are never touched."
    },
    footer = {
      "  ./postrider archive --dry-run",
      "  ./postrider archive --directory /var/backups/outbox --retention 60d --yes",
      "  ./postrider archive --optional"
    })
final class ArchiveCommand extends PostriderCommand {
  @Option(
      names = "--directory",
      paramLabel = "FOLDER",
      description = "Same as archive.directory; overrides archive.storage.")
  @Nullable String directory;

  @Option(
      names = "--retention",
      paramLabel = "TIME",
      description = "Same as archive.retention, for example 60d.")
  @Nullable String retention;

  @Option(names = "--dry-run", description = "Only count.")
  boolean dryRun;

  @Option(
      names = "--optional",
      description = {
        "Archive nothing. Allow messages to be removed without an archive again.",
        "After the first archive run, the database refuses that."
      })
  boolean optional;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask.")
  boolean yes;

  @Override
  int run(Context context) throws Exception {
    if (optional) {
      return makeOptional(context);
    }
    ArchiveSettings settings = context.config(flags(), ConfigPart.of(ConfigPart.ARCHIVE)).archive();
    try (ArchiveStorage storage = settings.storage().open()) {
      return run(context, storage, settings.retention());
    }
  }

  private int makeOptional(Context context) throws Exception {
    context.confirm(
        yes, "Let relays and operators remove messages for good, without archiving them?");
    boolean changed =
        new Purge(context.dataSource(), context.schema()).archiveOptional(context.actor());
    if (context.json()) {
      screen().json(new Fields().with("changed", changed).map());
    } else {
      screen()
          .line(
              changed
                  ? "Messages can be removed without an archive. The next archive run forbids it again."
                  : "No archive was required.");
    }
    return ExitCode.OK;
  }

  private int run(Context context, ArchiveStorage storage, Duration age) throws Exception {
    Archive archive =
        new Archive(context.dataSource(), context.schema(), ArchiveConfig.of(age), storage);
    List<ArchivePlan> plans = archive.dryRun();
    long settled = plans.stream().mapToLong(ArchivePlan::settled).sum();
    if (dryRun) {
      show(context, plans);
      return ExitCode.OK;
    }
    if (settled == 0) {
      screen()
          .note("nothing is older than %s, or all of it is unresolved".formatted(Units.text(age)));
    } else {
      context.confirm(
          yes,
          "Move %s from %s to %s?"
              .formatted(
                  Words.count(settled, "message"),
                  Words.count(plans.size(), "partition"),
                  storage.location()));
    }
    return carryOut(context, archive, settled);
  }

  private int carryOut(Context context, Archive archive, long expected) throws Exception {
    StopSignal stop = StopSignal.install(Duration.ofSeconds(90));
    Progress progress = new Progress(screen(), "messages", expected);
    ArchiveReport report =
        archive.run(
            context.actor(),
            state -> {
              progress.at(state.archived());
              return !stop.isAsked();
            });
    progress.done();
    if (context.json()) {
      screen().json(json(report));
    } else {
      screen()
          .line(
              "%s archived in %s, %s dropped%s."
                  .formatted(
                      Words.count(report.archived(), "message"),
                      Words.count(report.files().size(), "file"),
                      Words.count(report.dropped().size(), "partition"),
                      report.kept() == 0 ? "" : ", " + Words.count(report.kept()) + " kept"));
      report.busy().forEach(name -> screen().note("in use, so the next run drops it: " + name));
    }
    return report.stopped() ? ExitCode.TROUBLE : ExitCode.OK;
  }

  private void show(Context context, List<ArchivePlan> plans) {
    if (context.json()) {
      screen()
          .json(
              new Fields()
                  .with("partitions", plans.stream().map(ArchiveCommand::json).toList())
                  .map());
      return;
    }
    Table table = new Table("partition", "would be", "messages", "kept");
    for (ArchivePlan plan : plans) {
      table.row(
          plan.partition(),
          plan.whole() ? "dropped" : "thinned out",
          Words.count(plan.settled()),
          Words.count(plan.kept()));
    }
    if (table.isEmpty()) {
      screen().line("Nothing is old enough.");
    } else {
      screen().table(table);
    }
  }

  private static Map<String, Object> json(ArchivePlan plan) {
    return new Fields()
        .with("partition", plan.partition())
        .with("dropped", plan.whole())
        .with("settled", plan.settled())
        .with("kept", plan.kept())
        .map();
  }

  private static Map<String, Object> json(ArchiveReport report) {
    return new Fields()
        .with("archived", report.archived())
        .with("removed", report.removed())
        .with("kept", report.kept())
        .with("files", report.files())
        .with("dropped", report.dropped())
        .with("busy", report.busy())
        .with("stopped", report.stopped())
        .map();
  }

  private Map<String, Settings.Flag> flags() {
    Map<String, Settings.Flag> flags = new LinkedHashMap<>();
    if (directory != null) {
      flags.put("postrider.archive.storage", new Settings.Flag("directory", "--directory"));
      flags.put("postrider.archive.directory", new Settings.Flag(directory, "--directory"));
    }
    if (retention != null) {
      flags.put("postrider.archive.retention", new Settings.Flag(retention, "--retention"));
    }
    return flags;
  }
}
