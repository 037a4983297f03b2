package dev.postrider.cli.command;

import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.ConfigPart;
import dev.postrider.cli.settings.Settings;
import dev.postrider.server.Metrics;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Serves the HTTP API until it is stopped. */
@Command(
    name = "server",
    description = {
      "Serve the HTTP API: enqueue, search, operate, streams, metrics, health. Runs no relay; use up"
          + " to run both in one process.",
      "Listens on loopback by default. Callers need a token: ./postrider token create",
      "Ctrl-C or SIGTERM stops it."
    },
    footer = {"  ./postrider server", "  ./postrider server --port 8080"})
final class ServerCommand extends PostriderCommand {
  static final Duration PATIENCE = Duration.ofSeconds(30);

  @Option(names = "--host", paramLabel = "ADDRESS", description = "server.host")
  @Nullable String host;

  @Option(names = "--port", paramLabel = "PORT", description = "server.port; 0 for any")
  @Nullable String port;

  @Override
  int run(Context context) throws Exception {
    Config config = context.config(flags(), ConfigPart.of(ConfigPart.SERVER));
    context.requireSchema();
    StopSignal stop = StopSignal.install(PATIENCE);
    try (RunningServer server =
        RunningServer.start(config, context.dataSource(), context.direct(), new Metrics(), null)) {
      screen().note("server: " + server.url());
      screen().note("console: " + server.consoleUrl());
      stop.await();
      screen().note("stopping");
    }
    screen().note("stopped");
    return ExitCode.OK;
  }

  private Map<String, Settings.Flag> flags() {
    Map<String, Settings.Flag> flags = new LinkedHashMap<>();
    if (host != null) {
      flags.put("postrider.server.host", new Settings.Flag(host, "--host"));
    }
    if (port != null) {
      flags.put("postrider.server.port", new Settings.Flag(port, "--port"));
    }
    return flags;
  }
}
