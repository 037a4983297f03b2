package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.store.MessageFilter;
import dev.postrider.store.MessagePage;
import dev.postrider.store.MessageStatus;
import dev.postrider.store.Messages;
import dev.postrider.store.StoredMessage;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Searches messages. */
@Command(
    name = "messages",
    description = "Search messages, the newest first.",
    subcommands = MessagesCommand.Show.class,
    footer = {
      "  ./postrider messages --namespace shop --topic orders --from 2h",
      "  ./postrider messages --aggregate-type order --aggregate-id o-1",
      "  ./postrider messages show 019a8b5e-5d0c-7c52-a3a4-0f6a8e2f1b7d --payload"
    })
final class MessagesCommand extends PostriderCommand {
  @Mixin FilterOptions filter = new FilterOptions();

  @Option(names = "--limit", paramLabel = "N", description = "Messages a page, 1 to 1000; 50.")
  int limit = 50;

  @Option(
      names = "--before",
      paramLabel = "ID",
      description = "Go on behind this message: what the last page called next.")
  @Nullable String before;

  @Override
  int run(Context context) throws Exception {
    MessageFilter wanted = new MessageFilter(filter.conditions(this));
    @Nullable UUID position = before == null ? null : Options.id(this, before);
    MessagePage page =
        new Messages(context.dataSource(), context.schema()).search(wanted, position, limit);
    if (context.json()) {
      screen()
          .json(
              new Fields()
                  .with("items", page.items().stream().map(Shown::json).toList())
                  .with("next", page.next())
                  .map());
      return ExitCode.OK;
    }
    print(page);
    return ExitCode.OK;
  }

  private void print(MessagePage page) {
    Table table = new Table("id", "topic", "key", "seq", "state", "tries", "created", "code");
    for (MessageStatus message : page.items()) {
      table.row(
          Shown.colour(message.state()),
          message.id(),
          message.route(),
          message.key(),
          message.sequence(),
          Words.lower(message.state()),
          message.attempts(),
          Words.time(message.createdAt()),
          message.lastCode());
    }
    if (table.isEmpty()) {
      screen().line(page.next() == null ? "No message." : "None so far.");
    } else {
      screen().table(table);
    }
    if (page.next() != null) {
      screen().note("more: --before " + page.next());
    }
  }

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
      if (context.json()) {
        screen().json(Shown.json(message, messages.attempts(wanted), payload));
      } else {
        Shown.print(screen(), message, messages.attempts(wanted), payload);
      }
      return ExitCode.OK;
    }
  }
}
