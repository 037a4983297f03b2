package dev.postrider.cli.command;

import dev.postrider.operations.Pauses;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Stops a destination or a topic. */
@Command(
    name = "pause",
    description = {
      "Stop delivery to a destination or of a topic. Messages stay pending until it is resumed.",
      "Refuses a destination that no relay knows, unless --force is given."
    },
    footer = {"  ./postrider pause destination rail", "  ./postrider pause topic shop/orders"})
final class PauseCommand extends PostriderCommand {
  @Mixin PauseTarget target = new PauseTarget();

  @Option(
      names = "--force",
      description = "Pause a destination that no relay knows, before its first relay starts.")
  boolean force;

  @Override
  int run(Context context) throws Exception {
    target.check(this);
    boolean changed =
        new Pauses(context.dataSource(), context.schema())
            .pause(context.actor(), target.kind, target.name, force);
    return target.answer(context, changed, changed ? "paused" : "was paused already");
  }
}
