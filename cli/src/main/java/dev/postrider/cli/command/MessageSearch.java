package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.message.MessageState;
import dev.postrider.operations.MessageFilter;
import dev.postrider.operations.MessagePage;
import dev.postrider.operations.MessageStatus;
import dev.postrider.operations.Messages;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Searches messages. */
abstract class MessageSearch extends PostriderCommand {
  @Mixin FilterOptions filter = new FilterOptions();

  @Option(
      names = "--state",
      paramLabel = "STATE",
      description = "Only those pending, processing, delivered or dead.")
  @Nullable MessageState state;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Messages per page, 1 to 1000; 50 by default.")
  int limit = 50;

  @Option(
      names = "--before",
      paramLabel = "ID",
      description = "Continue after this message: the value of next on the previous page.")
  @Nullable String before;

  @Override
  final int run(Context context) throws Exception {
    MessageFilter wanted = new MessageFilter(filter.conditions(this));
    @Nullable UUID position = before == null ? null : Options.id(this, before);
    Messages messages = new Messages(context.dataSource(), context.schema());
    MessagePage page =
        state == null
            ? messages.search(wanted, position, limit)
            : messages.search(wanted, state, position, limit);
    if (context.json()) {
      screen()
          .json(
              new Fields()
                  .with("items", page.items().stream().map(MessageView::json).toList())
                  .with("next", page.next())
                  .map());
      return ExitCode.OK;
    }
    print(page);
    return ExitCode.OK;
  }

  private void print(MessagePage page) {
    Table table =
        new Table("id", "topic", "key", "seq", "state", "tries", "created", "code")
            .optional("tries", "created", "code", "seq");
    for (MessageStatus message : page.items()) {
      table.row(
          MessageView.colour(message.state()),
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
}
