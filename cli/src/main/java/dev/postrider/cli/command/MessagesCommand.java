package dev.postrider.cli.command;

import dev.postrider.observe.Fleet;
import dev.postrider.store.Messages;
import dev.postrider.store.StoredMessage;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Searches messages. */
@Command(
    name = "messages",
    description = "Search messages, the newest first.",
    subcommands = {MessagesCommand.Search.class, MessagesCommand.Show.class},
    footer = {
      "  ./postrider messages search --namespace shop --topic orders --from 2h",
      "  ./postrider messages --aggregate-type order --aggregate-id o-1",
      "  ./postrider messages show 019a8b5e-5d0c-7c52-a3a4-0f6a8e2f1b7d --payload"
    })
final class MessagesCommand extends MessageSearch {

  /** The same by its name. */
  @Command(
      name = "search",
      description = "Search messages, the newest first; the same as messages alone.",
      footer = "  ./postrider messages search --aggregate-type order --aggregate-id o-1")
  static final class Search extends MessageSearch {}

  /** Shows one message. */
  @Command(
      name = "show",
      description = "Show one message with all its attempts.",
      footer = "  ./postrider messages show 019a8b5e-5d0c-7c52-a3a4-0f6a8e2f1b7d --payload")
  static final class Show extends PostriderCommand {
    @Parameters(paramLabel = "ID", description = "The message's id.")
    String id = "";

    @Option(names = "--payload", description = "Show the payload too.")
    boolean payload;

    @Override
    int run(Context context) throws Exception {
      UUID wanted = Options.id(this, id);
      Messages messages = new Messages(context.dataSource(), context.schema());
      StoredMessage message =
          messages
              .find(wanted)
              .orElseThrow(() -> new Failure(ExitCode.TROUBLE, "there is no message " + wanted));
      Fleet.State fleet = new Fleet(context.dataSource(), context.schema()).read();
      Shown.Details details =
          new Shown.Details(
              message, messages.attempts(wanted), fleet.destinationsOf(message.status().route()));
      if (context.json()) {
        screen().json(Shown.json(details, payload));
      } else {
        Shown.print(screen(), details, payload);
      }
      return ExitCode.OK;
    }
  }
}
