package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.message.Route;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Keys that wait for an operator. */
@Command(
    name = "keys",
    description = "List the keys that a dead message blocks, longest blocked first.",
    subcommands = {KeysCommand.Listing.class, KeysCommand.Retry.class, KeysCommand.Skip.class},
    footer = {
      "  ./postrider keys list",
      "  ./postrider keys retry payments DE-4711",
      "  ./postrider keys skip payments DE-4711 --reason 'account closed'"
    })
final class KeysCommand extends KeyList {
  /** The same by its name. */
  @Command(
      name = "list",
      description = "List the keys that a dead message blocks. Same as keys.",
      footer = "  ./postrider keys list")
  static final class Listing extends KeyList {}

  /** A key, and what is done to its head. */
  abstract static class Act extends PostriderCommand {
    @Parameters(index = "0", paramLabel = "NAMESPACE", description = "The key's namespace.")
    String namespace = "";

    @Parameters(index = "1", paramLabel = "KEY", description = "The key.")
    String key = "";

    @Option(
        names = {"-t", "--topic"},
        paramLabel = "TEXT",
        description = "The topic; requires --subscription.")
    @Nullable String topic;

    @Option(
        names = "--subscription",
        paramLabel = "TEXT",
        description = "The subscription in which the key is blocked; the default one if not given.")
    @Nullable String subscription;

    /** In the default subscription the order of a key holds across topics. */
    final Route route() {
      boolean named = subscription != null && !subscription.equals("default");
      if (named && topic == null) {
        throw usage("--subscription goes with --topic");
      }
      return new Route(
          namespace, topic == null ? "" : topic, named && subscription != null ? subscription : "");
    }

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
      description = "Send the dead message again. Later messages of the key still wait for it.",
      footer = "  ./postrider keys retry payments DE-4711")
  static final class Retry extends Act {
    @Override
    int run(Context context) throws Exception {
      BlockedKeys keys = new BlockedKeys(context.dataSource(), context.schema());
      return answer(context, keys.retry(context.actor(), route(), key), "the head is tried again");
    }
  }

  /** Gives the head up. */
  @Command(
      name = "skip",
      description = "Discard the dead message. The key continues with the next one.",
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
          keys.skip(context.actor(), reason, route(), key),
          "the head is discarded, the key goes on");
    }
  }
}
