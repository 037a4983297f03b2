package dev.postrider.cli.command;

import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.DatabaseConfig;
import dev.postrider.cli.demo.DemoTraffic;
import dev.postrider.cli.output.Screen;
import dev.postrider.relay.Relay;
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
      description = "Where PostgreSQL keeps its data; .postrider/data unless given.")
  Path data = UpFile.DIRECTORY.resolve("data");

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "PostgreSQL's port; 15432 unless given, or another if that is taken.")
  @Nullable Integer port;

  @Option(
      names = "--demo",
      description = "Make up traffic: ordered keys, failures, retries, dead letters.")
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
    Config served = served(config);
    try (Relay relay = Relays.build(served, dataSource, direct).start()) {
      greet(served, dataSource);
      if (demo) {
        try (DemoTraffic traffic = DemoTraffic.start(dataSource, config.schema())) {
          stop.await();
        }
      }
      stop.await();
      screen().note("stopping: finishing what is in flight");
    }
  }

  private Config served(Config config) {
    if (!config.routes().isEmpty()) {
      return config;
    }
    Config served = config.with(List.of(UpRoutes.LOG), List.of(UpRoutes.TO_LOG));
    return demo ? served.with(List.of(UpRoutes.DEMO), UpRoutes.TO_DEMO) : served;
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
      if (demo) {
        screen.note("See the made-up traffic with:  ./postrider tail, dead list, keys list");
      }
    }
    screen.note("Ctrl-C ends it.");
    screen.note("");
  }
}
