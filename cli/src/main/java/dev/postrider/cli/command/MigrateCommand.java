package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Words;
import dev.postrider.internal.retention.Partitions;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Roles;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Creates and upgrades the schema. */
@Command(
    name = "migrate",
    description = {
      "Create or upgrade the schema. Safe to repeat and to run from several processes at once.",
      "With --print, prints the SQL for a DBA and changes nothing."
    },
    footer = {"  ./postrider migrate --roles", "  ./postrider migrate --print > postrider.sql"})
final class MigrateCommand extends PostriderCommand {
  /** A new index on a big table takes its time. */
  private static final Duration SILENCE = Duration.ofMinutes(10);

  @Option(names = "--print", description = "Print the SQL and do nothing.")
  boolean print;

  @Option(
      names = "--roles",
      description = "Also create the roles producer, relay, operator, reader and server.")
  boolean roles;

  @Override
  int run(Context context) throws SQLException {
    Schema schema = context.schema();
    if (print) {
      screen().text(new Migrations(schema).script().stripTrailing());
      if (roles) {
        screen().text(new Roles(schema).script().stripTrailing());
      }
      return ExitCode.OK;
    }
    List<String> applied = apply(context.dataSource(SILENCE), schema, roles);
    if (context.json()) {
      screen().json(new Fields().with("applied", applied).with("roles", roles).map());
    } else {
      screen()
          .line(
              applied.isEmpty()
                  ? "Up to date."
                  : Words.count(applied.size(), "file") + " applied.");
      applied.forEach(file -> screen().line("  " + file));
      if (roles) {
        screen()
            .line(
                "Roles are in place: %1$s_producer, _relay, _operator, _reader, _server."
                    .formatted(schema.name()));
      }
    }
    return ExitCode.OK;
  }

  /** The schema and the partitions of the next days. */
  static List<String> apply(DataSource dataSource, Schema schema, boolean roles)
      throws SQLException {
    List<String> applied = new Migrations(schema).apply(dataSource);
    try (Connection connection = dataSource.getConnection()) {
      if (!applied.isEmpty()) {
        new Partitions(schema).ensure(connection, 7);
      }
      if (roles) {
        new Roles(schema).apply(connection);
      }
    }
    return applied;
  }
}
