package dev.postrider.cli.command;

import dev.postrider.retention.RetentionTask;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What operators did. */
@Command(
    name = "audit",
    description = "List what operators did, newest first.",
    subcommands = {AuditCommand.Listing.class, AuditCommand.Purging.class},
    footer = {
      "  ./postrider audit list --by ann --from 2d",
      "  ./postrider audit purge --older-than 365d"
    })
final class AuditCommand extends AuditList {
  /** The same by its name. */
  @Command(
      name = "list",
      description = "List what operators did, newest first. Same as audit.",
      footer = "  ./postrider audit list --action dead.requeue")
  static final class Listing extends AuditList {}

  /** Removes old entries. */
  @Command(
      name = "purge",
      description = "Remove old entries. The removal is recorded. Same as purge audit.",
      footer = "  ./postrider audit purge --older-than 365d")
  static final class Purging extends PostriderCommand {
    @Option(
        names = "--older-than",
        paramLabel = "TIME",
        required = true,
        description = "At least 30d.")
    String olderThan = "";

    @Option(
        names = {"-y", "--yes"},
        description = "Do not ask.")
    boolean yes;

    @Override
    int run(Context context) throws Exception {
      return PurgeCommand.purge(
          this,
          context,
          RetentionTask.AUDIT,
          Options.duration(this, "--older-than", olderThan),
          yes);
    }
  }
}
