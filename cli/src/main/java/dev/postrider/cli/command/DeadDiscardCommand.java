package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Words;
import dev.postrider.deadletter.DeadLetters;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Gives dead letters up. */
@Command(
    name = "discard",
    description = {
      "Discard dead letters. Keys that they blocked continue.",
      "They stay in the database and can still be requeued by id."
    },
    footer = "  ./postrider dead discard --topic orders --code invalid --reason 'test data'")
final class DeadDiscardCommand extends PostriderCommand {
  @Mixin DeadSelection selection = new DeadSelection();

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      required = true,
      description = "Why, for the audit.")
  String reason = "";

  @Override
  int run(Context context) throws Exception {
    selection.check(this);
    if (selection.filter.discarded) {
      throw usage("--discarded: these are discarded already");
    }
    DeadLetters dead = new DeadLetters(context.dataSource(), context.schema());
    context.confirm(selection.yes, "Discard " + selection.count(this, dead) + "?");
    DeadSelection.Done done =
        selection.byId()
            ? selection.each(
                this,
                dead,
                (id, in) ->
                    in == null
                        ? dead.discard(context.actor(), reason, List.of(id))
                        : dead.discard(context.actor(), reason, id, in) ? 1 : 0)
            : new DeadSelection.Done(
                dead.discard(
                    context.actor(), reason, selection.filter.filter(this), this::progress),
                List.of());
    screen().progress("");
    if (context.json()) {
      screen().json(new Fields().with("discarded", done.count()).map());
    } else {
      screen().line(Words.count(done.count(), "dead letter") + " discarded.");
    }
    return done.exitCode();
  }

  private boolean progress(long count) {
    screen().progress(Words.count(count) + " discarded");
    return true;
  }
}
