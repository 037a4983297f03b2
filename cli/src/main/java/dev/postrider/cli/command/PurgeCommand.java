package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Words;
import dev.postrider.cli.settings.Units;
import dev.postrider.internal.retention.Purge;
import dev.postrider.retention.RetentionTask;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Removes old rows at once. */
@Command(
    name = "purge",
    description = {
      "Remove old rows now, in small steps. Running relays do this automatically, see"
          + " postrider.retention.",
      "Tasks: messages (with attempts, without an archive), dedupe-keys, inbox, stream, dead-letters"
          + " (resolved), audit, replay-jobs, workers, delivered-content, ordering-keys (idle).",
      "Pending and unresolved dead messages are never touched."
    },
    footer = {
      "  ./postrider purge inbox --older-than 90d",
      "  ./postrider purge ordering-keys --older-than 30d --yes"
    })
final class PurgeCommand extends PostriderCommand {
  @Parameters(paramLabel = "TASK", description = "What to remove.")
  String task = "";

  @Option(
      names = "--older-than",
      paramLabel = "TIME",
      required = true,
      description = "Age of the rows to remove: at least 1h, for the audit 30d.")
  String olderThan = "";

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask.")
  boolean yes;

  @Override
  int run(Context context) throws Exception {
    return purge(this, context, task(), Options.duration(this, "--older-than", olderThan), yes);
  }

  private RetentionTask task() {
    return Arrays.stream(RetentionTask.values())
        .filter(each -> name(each).equals(task.replace('_', '-')))
        .findFirst()
        .orElseThrow(
            () ->
                usage(
                    "unknown task \"%s\"; expected one of %s"
                        .formatted(
                            task,
                            Arrays.stream(RetentionTask.values())
                                .map(PurgeCommand::name)
                                .collect(Collectors.joining(", ")))));
  }

  private static String name(RetentionTask task) {
    return task.label().replace('_', '-');
  }

  static int purge(
      PostriderCommand command, Context context, RetentionTask task, Duration age, boolean yes)
      throws Exception {
    context.confirm(
        yes, "Remove %s older than %s for good?".formatted(name(task), Units.text(age)));
    StopSignal stop = StopSignal.install(Duration.ofSeconds(90));
    long removed =
        new Purge(context.dataSource(), context.schema())
            .run(
                context.actor(),
                task,
                age,
                count -> {
                  command.screen().progress(Words.count(count) + " removed");
                  return !stop.isAsked();
                });
    command.screen().progress("");
    if (context.json()) {
      command
          .screen()
          .json(
              new Fields()
                  .with("task", task.label())
                  .with("removed", removed)
                  .with("stopped", stop.isAsked())
                  .map());
    } else {
      command.screen().line(Words.count(removed, "row") + " removed.");
    }
    return stop.isAsked() ? ExitCode.TROUBLE : ExitCode.OK;
  }
}
