package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Words;
import dev.postrider.deadletter.DeadLetters;
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
    long count =
        selection.inOne()
            ? selection.each(this, dead, (id, in) -> dead.discard(context.actor(), reason, id, in))
            : selection.byId()
                ? dead.discard(context.actor(), reason, selection.ids(this))
                : dead.discard(
                    context.actor(), reason, selection.filter.filter(this), this::progress);
    screen().progress("");
    if (context.json()) {
      screen().json(new Fields().with("discarded", count).map());
    } else {
      screen().line(Words.count(count, "dead letter") + " discarded.");
    }
    return selection.byId() && count < selection.ids.size() ? ExitCode.TROUBLE : ExitCode.OK;
  }

  private boolean progress(long count) {
    screen().progress(Words.count(count) + " discarded");
    return true;
  }
}
