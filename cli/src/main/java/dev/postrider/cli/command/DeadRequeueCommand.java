package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Words;
import dev.postrider.deadletter.DeadLetters;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Sends dead letters again. */
@Command(
    name = "requeue",
    description = "Send dead letters again, with the same id and sequence. Attempts start at zero.",
    footer = {
      "  ./postrider dead requeue 019a8b5e-5d0c-7c52-a3a4-0f6a8e2f1b7d",
      "  ./postrider dead requeue --topic orders --code timeout --yes"
    })
final class DeadRequeueCommand extends PostriderCommand {
  @Mixin DeadSelection selection = new DeadSelection();

  @Override
  int run(Context context) throws Exception {
    selection.check(this);
    DeadLetters dead = new DeadLetters(context.dataSource(), context.schema());
    // Whoever names them one by one has said what is meant.
    context.confirm(
        selection.yes || selection.byId(), "Requeue " + selection.count(this, dead) + "?");
    DeadSelection.Done done =
        selection.byId()
            ? selection.each(
                this,
                dead,
                (id, in) ->
                    in == null
                        ? dead.requeue(context.actor(), List.of(id))
                        : dead.requeue(context.actor(), id, in) ? 1 : 0)
            : new DeadSelection.Done(
                dead.requeue(context.actor(), selection.filter.filter(this), this::progress),
                List.of());
    screen().progress("");
    if (context.json()) {
      screen().json(new Fields().with("requeued", done.count()).map());
    } else {
      screen().line(Words.count(done.count(), "dead letter") + " requeued.");
    }
    return done.exitCode();
  }

  private boolean progress(long count) {
    screen().progress(Words.count(count) + " requeued");
    return true;
  }
}
