package dev.postrider.cli.command;

import dev.postrider.access.Tokens;
import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.DatabaseConfig;
import dev.postrider.cli.demo.DemoTraffic;
import dev.postrider.relay.Relay;
import dev.postrider.server.Metrics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Everything at once, to try it or to work with it. */
@Command(
    name = "up",
    description = {
      "Start PostgreSQL, the schema, the server, and a relay that sends each message to the"
          + " server's stream and prints it as a line of JSON.",
      "The data stays in .postrider for the next start. A configured database and configured"
          + " routes are used instead.",
      "Ctrl-C stops it."
    },
    footer = {
      "  ./postrider up",
      "  ./postrider up --demo",
      "  ./postrider up --data /var/tmp/outbox --port 15432"
    })
final class UpCommand extends PostriderCommand {
  private static final Duration SILENCE = Duration.ofSeconds(90);

  @Option(
      names = "--data",
      paramLabel = "FOLDER",
      description = "Folder for the data and the token, mode 0700; .postrider by default.")
  Path folder = UpFile.DIRECTORY;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "PostgreSQL's port; 15432 by default, another one if that is taken.")
  @Nullable Integer port;

  @Option(
      names = "--demo",
      description = "Generate traffic: ordered keys, failures, retries, dead letters.")
  boolean demo;

  @Override
  int run(Context context) throws Exception {
    Config config = context.config();
    if (demo && (config.database().url() != null || !config.routes().isEmpty())) {
      throw new Failure(
          ExitCode.USAGE,
          "--demo makes up messages, so it goes neither with a configured database nor with"
              + " configured routes");
    }
    if (demo) {
      Logging.withoutFailures(context.options().verbose);
    }
    StopSignal stop = StopSignal.install(Relays.patience(config).plusSeconds(60));
    Config served = config.routes().isEmpty() ? UpRoutes.in(config, demo) : config;
    if (config.database().url() != null) {
      DataSource dataSource = context.dataSource();
      List<String> applied = MigrateCommand.apply(dataSource, config.schema(), false);
      applied.forEach(file -> screen().note("migrated: " + file));
      serve(
          served,
          dataSource,
          context.direct(),
          server -> {
            greet(served, server);
            screen().note("Console: " + server.consoleUrl());
            screen()
                .note("Its callers need a token: ./postrider token create NAME --role operator");
          },
          stop);
      return ExitCode.OK;
    }
    screen().note("starting PostgreSQL on the data in " + OwnPostgres.data(folder));
    try (OwnPostgres postgres = OwnPostgres.start(folder, port)) {
      DatabaseConfig own = new DatabaseConfig(postgres.jdbcUrl(), null, null, null);
      DataSource dataSource = Connections.to(postgres.jdbcUrl(), own, "postrider", SILENCE);
      MigrateCommand.apply(dataSource, config.schema(), true);
      OperatorToken token =
          new OperatorToken(
              new Tokens(dataSource, config.schema()), folder.resolve("operator-token"));
      String secret = token.prepare(context.actor());
      postgres.announce();
      UpGreeting greeting = new UpGreeting(screen(), config.schema(), postgres.psqlUrl());
      serve(
          served,
          dataSource,
          dataSource,
          server -> {
            greet(served, server);
            screen().note("Console: " + server.signInLink(secret));
            screen().note("         The link signs in once, within an hour. Later use the token.");
            greeting.say(server.url(), token.file(), token.headerFile(), demo);
          },
          stop);
      screen().note("stopping PostgreSQL; the data stays in " + OwnPostgres.data(folder));
    }
    return ExitCode.OK;
  }

  private void serve(
      Config config,
      DataSource dataSource,
      DataSource direct,
      Consumer<RunningServer> greeting,
      StopSignal stop)
      throws InterruptedException {
    Metrics metrics = new Metrics();
    try (Relay relay =
            Relays.builder(config, dataSource, direct).listener(metrics.relay()).build().start();
        RunningServer server =
            RunningServer.startSomewhere(config, dataSource, direct, metrics, relay)) {
      greeting.accept(server);
      screen().note("Ctrl-C ends it.");
      screen().note("");
      if (demo) {
        try (DemoTraffic traffic = DemoTraffic.start(dataSource, config.schema())) {
          stop.await();
        }
      }
      stop.await();
      screen().note("stopping: finishing what is in flight");
    }
  }

  private void greet(Config config, RunningServer server) {
    screen().note("");
    screen().note("Postrider is up. Relay: " + Relays.routes(config));
    screen().note("Server: " + server.url());
  }
}
