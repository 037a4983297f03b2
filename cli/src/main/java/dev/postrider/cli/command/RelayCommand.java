package dev.postrider.cli.command;

import dev.postrider.cli.config.Config;
import dev.postrider.cli.settings.Settings;
import dev.postrider.relay.Relay;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Carries messages until it is stopped. */
@Command(
    name = "relay",
    description = {
      "Carry messages to their destinations, by the routes of the configuration.",
      "Ctrl-C or SIGTERM ends it: what is in flight is finished, the rest given back."
    },
    footer = "  ./postrider relay --config postrider.yaml --lease 30s")
final class RelayCommand extends PostriderCommand {
  @Option(names = "--name", paramLabel = "TEXT", description = "relay.name")
  @Nullable String name;

  @Option(names = "--batch-size", paramLabel = "N", description = "relay.batch-size")
  @Nullable String batchSize;

  @Option(names = "--carriers", paramLabel = "N", description = "relay.carriers")
  @Nullable String carriers;

  @Option(names = "--poll-interval", paramLabel = "TIME", description = "relay.poll-interval")
  @Nullable String pollInterval;

  @Option(names = "--lease", paramLabel = "TIME", description = "relay.lease")
  @Nullable String lease;

  @Override
  int run(Context context) throws Exception {
    Config config = context.config(flags());
    if (config.routes().isEmpty()) {
      throw new Failure(
          ExitCode.USAGE,
          "no route is configured, so nothing would be carried\n"
              + "Add postrider.routes to postrider.yaml; docs/cli.md has an example.");
    }
    context.requireSchema();
    StopSignal stop = StopSignal.install(Relays.patience(config));
    try (Relay relay =
        Relays.builder(config, context.dataSource(), context.direct()).build().start()) {
      screen().note("relay " + config.relay().name() + ": " + Relays.routes(config));
      stop.await();
      screen().note("stopping: finishing what is in flight");
    }
    screen().note("stopped");
    return ExitCode.OK;
  }

  private Map<String, Settings.Flag> flags() {
    Map<String, Settings.Flag> flags = new LinkedHashMap<>();
    put(flags, "name", name);
    put(flags, "batch-size", batchSize);
    put(flags, "carriers", carriers);
    put(flags, "poll-interval", pollInterval);
    put(flags, "lease", lease);
    return flags;
  }

  private static void put(Map<String, Settings.Flag> flags, String key, @Nullable String value) {
    if (value != null) {
      flags.put("postrider.relay." + key, new Settings.Flag(value, "--" + key));
    }
  }
}
