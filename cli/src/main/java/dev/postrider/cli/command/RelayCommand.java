package dev.postrider.cli.command;

import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.ConfigPart;
import dev.postrider.cli.settings.Settings;
import dev.postrider.relay.Relay;
import dev.postrider.server.Metrics;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Carries messages until it is stopped. */
@Command(
    name = "relay",
    description = {
      "Deliver messages to their destinations, as the routes of the configuration say.",
      "Health and metrics are at http://127.0.0.1:7081/v1/health by default.",
      "Ctrl-C or SIGTERM stops it: it finishes messages in flight and releases the others."
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
    Config config = context.config(flags(), ConfigPart.of(ConfigPart.RELAY));
    if (config.routes().isEmpty()) {
      throw new Failure(
          ExitCode.USAGE,
          "no route is configured, so nothing would be carried\n"
              + "Add postrider.routes to postrider.yaml; docs/cli.md has an example.");
    }
    context.requireSchema();
    StopSignal stop = StopSignal.install(Relays.patience(config));
    Metrics metrics = new Metrics();
    try (Relay relay =
            Relays.builder(config, context.dataSource(), context.direct())
                .listener(metrics.relay())
                .build();
        @Nullable RunningServer monitor = monitor(config, context, metrics, relay)) {
      relay.start();
      screen().note("relay " + config.relay().name() + ": " + Relays.routes(config));
      if (monitor != null) {
        screen().note("monitor: " + monitor.url());
      }
      stop.await();
      screen().note("stopping: finishing what is in flight");
    }
    screen().note("stopped");
    return ExitCode.OK;
  }

  /** Before the relay carries anything: a relay that cannot be watched as configured ends. */
  private static @Nullable RunningServer monitor(
      Config config, Context context, Metrics metrics, Relay relay) {
    return config.monitor().enabled()
        ? RunningServer.startMonitor(config, context.dataSource(), metrics, relay)
        : null;
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
