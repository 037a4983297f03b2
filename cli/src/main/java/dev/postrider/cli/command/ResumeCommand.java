package dev.postrider.cli.command;

import dev.postrider.operations.Pauses;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lets a destination or a topic go on. */
@Command(
    name = "resume",
    description = "Resume a paused destination or topic.",
    footer = {"  ./postrider resume destination rail", "  ./postrider resume topic shop/orders"})
final class ResumeCommand extends PostriderCommand {
  @Mixin PauseTarget target = new PauseTarget();

  @Override
  int run(Context context) throws Exception {
    target.check(this);
    boolean changed =
        new Pauses(context.dataSource(), context.schema())
            .resume(context.actor(), target.kind, target.name);
    return target.answer(context, changed, changed ? "goes on" : "was not paused");
  }
}
