package dev.postrider.cli.command;

import dev.postrider.cli.output.Colour;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.deadletter.DeadLetter;
import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetterPage;
import dev.postrider.deadletter.DeadLetterPage.Cursor;
import dev.postrider.deadletter.DeadLetters;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists dead letters. */
abstract class DeadList extends PostriderCommand {
  @Mixin DeadFilterOptions filter = new DeadFilterOptions();

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Dead letters per page, 1 to 1000; 50 by default.")
  int limit = 50;

  @Option(names = "--oldest", description = "The oldest first.")
  boolean oldest;

  @Option(
      names = "--after",
      paramLabel = "PLACE",
      description = "The value of next on the previous page.")
  @Nullable String after;

  @Override
  final int run(Context context) throws Exception {
    DeadLetterFilter wanted = filter.filter(this);
    @Nullable Cursor start = cursor();
    DeadLetterPage page =
        new DeadLetters(context.dataSource(), context.schema()).list(wanted, !oldest, start, limit);
    @Nullable Cursor end = page.next();
    @Nullable String next = end == null ? null : end.diedAt() + "/" + end.id();
    if (context.json()) {
      screen()
          .json(
              new Fields()
                  .with("items", page.items().stream().map(MessageView::json).toList())
                  .with("next", next)
                  .map());
      return ExitCode.OK;
    }
    print(page);
    if (next != null) {
      screen().note("more: --after " + next);
    }
    return ExitCode.OK;
  }

  private void print(DeadLetterPage page) {
    Table table =
        new Table("id", "topic", "key", "died", "tries", "blocks", "code", "discarded", "error")
            .optional("tries", "died", "discarded", "error", "blocks", "key");
    for (DeadLetter dead : page.items()) {
      table.row(
          dead.blocking() ? Colour.BAD : null,
          dead.id(),
          dead.route(),
          dead.key(),
          Words.time(dead.diedAt()),
          dead.attempts(),
          dead.blocking() ? "its key" : "",
          dead.code(),
          dead.discardReason(),
          dead.error());
    }
    if (table.isEmpty()) {
      screen().line("No dead letter.");
    } else {
      screen().table(table);
    }
  }

  private @Nullable Cursor cursor() {
    if (after == null) {
      return null;
    }
    int slash = after.indexOf('/');
    try {
      return new Cursor(
          Instant.parse(after.substring(0, Math.max(slash, 0))),
          UUID.fromString(after.substring(slash + 1)));
    } catch (DateTimeParseException | IllegalArgumentException e) {
      throw usage("--after: expected what the last page called next, got \"" + after + "\"");
    }
  }
}
