package dev.postrider.cli.command;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Unmatched;

/**
 * Stands for the examples in help and completion. The script {@code ./postrider} builds and runs
 * them itself: they are not part of the jar.
 */
@Command(
    name = "example",
    description = {
      "Run an application from the folder examples: chat, domain-events, memory-sync, payments or"
          + " usage-billing.",
      "Starts its own PostgreSQL unless --url is given. Ends after --seconds or at Ctrl-C. Works"
          + " only in a clone of the repository."
    },
    footer = {"  ./postrider example domain-events", "  ./postrider example payments --seconds 30"})
final class ExampleCommand extends PostriderCommand {
  @Parameters(paramLabel = "NAME", arity = "0..1", description = "Which one.")
  String name = "";

  @Unmatched List<String> options = new ArrayList<>();

  @Override
  int run(Context context) {
    throw usage("examples are run by the script ./postrider, in a clone of the repository");
  }
}
