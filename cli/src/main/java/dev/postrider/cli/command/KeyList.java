package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.deadletter.BlockedKey;
import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.message.Route;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** Lists keys that wait for an operator. */
abstract class KeyList extends PostriderCommand {
  @Option(names = "--limit", paramLabel = "N", description = "Keys, 1 to 1000; 100.")
  int limit = 100;

  @Override
  final int run(Context context) throws Exception {
    List<BlockedKey> keys =
        new BlockedKeys(context.dataSource(), context.schema()).list(null, limit);
    if (context.json()) {
      screen().json(new Fields().with("items", keys.stream().map(KeyList::json).toList()).map());
      return ExitCode.OK;
    }
    Table table =
        new Table("namespace", "key", "for", "behind", "head", "topic", "seq", "code", "error")
            .whole("namespace", "key")
            .optional("seq", "error", "topic", "code", "head");
    for (BlockedKey key : keys) {
      table.row(
          key.namespace(),
          key.key(),
          Words.age(key.blockedFor()),
          followers(key),
          key.head(),
          topic(key.route()),
          key.sequence(),
          key.code(),
          key.error());
    }
    if (table.isEmpty()) {
      screen().line("No key is blocked.");
    } else {
      screen().table(table);
    }
    return ExitCode.OK;
  }

  private static String topic(Route route) {
    return route.topic() + (route.subscription().isEmpty() ? "" : "#" + route.subscription());
  }

  /** How many messages wait behind the head; with a + if they were not all counted. */
  static String followers(BlockedKey key) {
    return Words.count(key.followers()) + (key.followers() >= BlockedKey.MOST ? "+" : "");
  }

  static Map<String, Object> json(BlockedKey key) {
    return new Fields()
        .with("namespace", key.namespace())
        .with("key", key.key())
        .with("head", key.head())
        .with("topic", key.route().topic())
        .with("subscription", MessageView.named(key.route()))
        .with("sequence", key.sequence())
        .with("blocked_at", key.blockedAt())
        .with("followers", key.followers())
        .with("code", key.code())
        .with("error", key.error())
        .map();
  }
}
