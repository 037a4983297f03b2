package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.deadletter.BlockedKey;
import dev.postrider.deadletter.BlockedKeys;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Keys that wait for an operator. */
@Command(
    name = "keys",
    description = "List the keys that wait behind a dead message, the longest waiting first.",
    subcommands = {KeysCommand.Retry.class, KeysCommand.Skip.class},
    footer = {
      "  ./postrider keys",
      "  ./postrider keys retry payments DE-4711",
      "  ./postrider keys skip payments DE-4711 --reason 'account closed'"
    })
final class KeysCommand extends PostriderCommand {
  @Option(names = "--limit", paramLabel = "N", description = "Keys, 1 to 1000; 100.")
  int limit = 100;

  @Override
  int run(Context context) throws Exception {
    List<BlockedKey> keys =
        new BlockedKeys(context.dataSource(), context.schema()).list(null, limit);
    if (context.json()) {
      screen()
          .json(new Fields().with("items", keys.stream().map(KeysCommand::json).toList()).map());
      return ExitCode.OK;
    }
    Table table =
        new Table("namespace", "key", "for", "behind", "head", "topic", "seq", "code", "error");
    for (BlockedKey key : keys) {
      table.row(
          key.namespace(),
          key.key(),
          Words.age(key.blockedFor()),
          Words.count(key.followers()) + (key.followers() >= BlockedKey.MOST ? "+" : ""),
          key.head(),
          key.route().topic(),
          key.sequence(),
          key.code(),
          key.error() == null ? null : Words.cut(key.error(), 60));
    }
    if (table.isEmpty()) {
      screen().line("No key is blocked.");
    } else {
      screen().table(table);
    }
    return ExitCode.OK;
  }

  private static Map<String, Object> json(BlockedKey key) {
    return new Fields()
        .with("namespace", key.namespace())
        .with("key", key.key())
        .with("head", key.head())
        .with("topic", key.route().topic())
        .with("sequence", key.sequence())
        .with("blocked_at", key.blockedAt())
        .with("followers", key.followers())
        .with("code", key.code())
        .with("error", key.error())
        .map();
  }

  /** A key, and what is done to its head. */
  abstract static class Act extends PostriderCommand {
    @Parameters(index = "0", paramLabel = "NAMESPACE", description = "The key's namespace.")
    String namespace = "";

    @Parameters(index = "1", paramLabel = "KEY", description = "The key.")
    String key = "";

    final int answer(Context context, boolean done, String what) {
      if (!done) {
        throw new Failure(
            ExitCode.TROUBLE, "the key %s/%s is not blocked".formatted(namespace, key));
      }
      if (context.json()) {
        screen().json(new Fields().with("done", what).map());
      } else {
        screen().line("%s/%s: %s".formatted(namespace, key, what));
      }
      return ExitCode.OK;
    }
  }

  /** Tries the head again. */
  @Command(
      name = "retry",
      description = "Try the dead head again; the others keep waiting for it.",
      footer = "  ./postrider keys retry payments DE-4711")
  static final class Retry extends Act {
    @Override
    int run(Context context) throws Exception {
      BlockedKeys keys = new BlockedKeys(context.dataSource(), context.schema());
      return answer(
          context, keys.retry(context.actor(), namespace, key), "the head is tried again");
    }
  }

  /** Gives the head up. */
  @Command(
      name = "skip",
      description = "Discard the dead head, so that the key goes on without it.",
      footer = "  ./postrider keys skip payments DE-4711 --reason 'account closed'")
  static final class Skip extends Act {
    @Option(
        names = "--reason",
        paramLabel = "TEXT",
        required = true,
        description = "Why, for the audit.")
    String reason = "";

    @Option(
        names = {"-y", "--yes"},
        description = "Do not ask.")
    boolean yes;

    @Override
    int run(Context context) throws Exception {
      BlockedKeys keys = new BlockedKeys(context.dataSource(), context.schema());
      context.confirm(yes, "Discard the dead head of the key %s/%s?".formatted(namespace, key));
      return answer(
          context,
          keys.skip(context.actor(), reason, namespace, key),
          "the head is discarded, the key goes on");
    }
  }
}
