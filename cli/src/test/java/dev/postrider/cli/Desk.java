package dev.postrider.cli;

import static org.awaitility.Awaitility.await;

import dev.postrider.cli.Executable.Result;
import dev.postrider.destination.Destination;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.embedded.EmbeddedServer;
import dev.postrider.enqueue.Outbox;
import dev.postrider.internal.retention.Partitions;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.relay.RouteOptions;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** An operator's place: a database of its own, and the executable that knows it. */
final class Desk {
  /** What is neither a dead head nor behind one. */
  private static final String GOING =
      """
      select id from postrider.queue q where not q.blocked and not exists (
        select from postrider.queue h where h.key_id = q.key_id and h.blocked)
      """;

  private static final AtomicInteger COUNTER = new AtomicInteger();

  /** Durable, since the doctor looks; closed when the tests end. */
  private static final EmbeddedServer SERVER = EmbeddedServer.start();

  final String url;
  final Executable postrider;

  private Desk(String url, Path folder) {
    this.url = url;
    this.postrider = Executable.in(folder).with("POSTRIDER_DATABASE_URL", url);
  }

  /** With nothing in the database. */
  static Desk bare(Path folder) {
    String name = "desk_" + COUNTER.incrementAndGet();
    execute(SERVER.jdbcUrl(), "create database " + name);
    return new Desk(SERVER.jdbcUrl(name), folder);
  }

  /** With the schema. */
  static Desk ready(Path folder) throws SQLException {
    Desk desk = bare(folder);
    new Migrations(Schema.DEFAULT).apply(desk.dataSource());
    try (Connection connection = desk.dataSource().getConnection()) {
      new Partitions(Schema.DEFAULT).ensure(connection, 1);
    }
    return desk;
  }

  Result run(String... arguments) {
    return postrider.run(arguments);
  }

  DataSource dataSource() {
    return dataSource(url);
  }

  private static DataSource dataSource(String url) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(url);
    return dataSource;
  }

  void execute(String sql) {
    execute(url, sql);
  }

  private static void execute(String url, String sql) {
    try (Connection connection = dataSource(url).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  List<String> column(String sql) {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> values = new ArrayList<>();
      while (rows.next()) {
        values.add(rows.getString(1));
      }
      return values;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  String value(String sql) {
    return column(sql).get(0);
  }

  String enqueue(NewMessage.Builder message) throws SQLException {
    try (Connection connection = dataSource().getConnection()) {
      connection.setAutoCommit(false);
      String id = new Outbox().enqueue(connection, message.build()).id().toString();
      connection.commit();
      return id;
    }
  }

  /** Lets a relay treat all that waits like this, until nothing more can go. */
  void carry(Outcome outcome, DeadPolicy onDead) {
    carry(HandlerDestination.inline(message -> outcome), onDead);
  }

  /** The same, to this destination. */
  void carry(Destination destination, DeadPolicy onDead) {
    try (Relay relay =
        Relay.builder(dataSource())
            .config(RelayConfig.defaults().withPollInterval(Duration.ofMillis(50)))
            .destination("here", destination)
            .route(
                "*",
                "*",
                "here",
                RouteOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withOnDead(onDead)))
            .build()
            .start()) {
      await().until(() -> column(GOING).isEmpty());
    }
  }
}
