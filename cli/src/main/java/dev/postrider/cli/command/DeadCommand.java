package dev.postrider.cli.command;

import picocli.CommandLine.Command;

/** Lists dead letters, and what can be done with them. */
@Command(
    name = "dead",
    description = "List, show, requeue or discard dead letters.",
    subcommands = {
      DeadCommand.Listing.class,
      MessagesCommand.Show.class,
      DeadRequeueCommand.class,
      DeadDiscardCommand.class
    },
    footer = {
      "  ./postrider dead list --topic orders --code timeout",
      "  ./postrider dead requeue --topic orders --code timeout",
      "  ./postrider dead discard 019a8b5e-5d0c-7c52-a3a4-0f6a8e2f1b7d --reason 'test data'"
    })
final class DeadCommand extends DeadList {
  /** The same by its name. */
  @Command(
      name = "list",
      description = "List dead letters, newest first. Same as dead.",
      footer = "  ./postrider dead list --topic orders --code timeout")
  static final class Listing extends DeadList {}
}
