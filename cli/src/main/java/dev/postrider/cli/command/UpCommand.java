package dev.postrider.cli.command;

import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.DatabaseConfig;
import dev.postrider.cli.config.DestinationConfig;
import dev.postrider.cli.config.RouteConfig;
import dev.postrider.cli.destination.LogDestination;
import dev.postrider.cli.output.Screen;
import dev.postrider.dispatch.DestinationOptions;
import dev.postrider.message.RetryPolicy;
import dev.postrider.relay.Relay;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Everything at once, to try it or to work with it. */
@Command(
    name = "up",
    description = {
      "Start everything: a PostgreSQL of its own, the schema, and a relay that prints each message"
          + " as a line of JSON.",
      "The data stays in .postrider/data and is used again next time. With a database configured"
          + " that one is used, and with routes configured the relay goes by them.",
      "Ctrl-C ends it in order."
    },
    footer = {"  ./postrider up", "  ./postrider up --data /var/tmp/outbox --port 15432"})
final class UpCommand extends PostriderCommand {
  private static final Duration SILENCE = Duration.ofSeconds(90);

  @Option(
      names = "--data",
      paramLabel = "FOLDER",
      description = "Where PostgreSQL keeps its data; .postrider/data unless given.")
  Path data = UpFile.DIRECTORY.resolve("data");

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "PostgreSQL's port; 15432 unless given, or another if that is taken.")
  @Nullable Integer port;

  @Override
  int run(Context context) throws Exception {
    Config config = context.config();
    StopSignal stop = StopSignal.install(Relays.patience(config).plusSeconds(60));
    @Nullable String url = config.database().url();
    if (url != null) {
      DataSource dataSource = context.dataSource();
      List<String> applied = MigrateCommand.apply(dataSource, config.schema(), false);
      applied.forEach(file -> screen().note("migrated: " + file));
      carry(config, dataSource, context.direct(), stop);
      return ExitCode.OK;
    }
    screen().note("starting PostgreSQL on the data in " + data);
    try (OwnPostgres postgres = OwnPostgres.start(data, port)) {
      DatabaseConfig own = new DatabaseConfig(postgres.jdbcUrl(), null, null, null);
      DataSource dataSource = Connections.to(postgres.jdbcUrl(), own, "postrider", SILENCE);
      MigrateCommand.apply(dataSource, config.schema(), true);
      postgres.announce();
      carry(config, dataSource, dataSource, stop);
      screen().note("stopping PostgreSQL; the data stays in " + data);
    }
    return ExitCode.OK;
  }

  private void carry(Config config, DataSource dataSource, DataSource direct, StopSignal stop)
      throws InterruptedException {
    Config served = config.routes().isEmpty() ? withLog(config) : config;
    try (Relay relay = Relays.build(served, dataSource, direct).start()) {
      greet(served, dataSource);
      stop.await();
      screen().note("stopping: finishing what is in flight");
    }
  }

  private static Config withLog(Config config) {
    return config.withRouteForAll(
        new DestinationConfig(
            "log",
            "log",
            DestinationOptions.DEFAULT,
            () -> new LogDestination(new FileOutputStream(FileDescriptor.out))),
        new RouteConfig(RouteConfig.ANY, RouteConfig.ANY, "log", RetryPolicy.DEFAULT));
  }

  private void greet(Config config, DataSource dataSource) {
    Screen screen = screen();
    screen.note("");
    screen.note("Postrider is up. Relay: " + Relays.routes(config));
    if (dataSource instanceof org.postgresql.ds.PGSimpleDataSource own
        && config.database().url() == null) {
      String uri = "postgresql://postgres@127.0.0.1:%d/postgres".formatted(own.getPortNumbers()[0]);
      screen.note("");
      screen.note("Send a first message, from another terminal in this folder:");
      screen.note("  ./postrider enqueue -n demo -t hello -k ann -p '{\"text\": \"hello\"}'");
      screen.note("or from SQL:");
      screen.note(
          "  psql %s -c \"select * from %s.enqueue('demo', 'hello', '{}', key => 'ann')\""
              .formatted(uri, config.schema().name()));
      screen.note("");
      screen.note("See it arrive here, or with:  ./postrider tail --payload");
      screen.note("Look around with:             ./postrider status");
    }
    screen.note("Ctrl-C ends it.");
    screen.note("");
  }
}
