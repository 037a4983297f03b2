package dev.postrider.bench.soak;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.embedded.EmbeddedServer;
import dev.postrider.internal.retention.Partitions;
import dev.postrider.internal.retention.RetentionState;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Sends for some minutes through a small database whose retentions are seconds, and fails if table
 * sizes, memory, connections or latency grow. Arguments: minutes (20), messages a second (300).
 */
public final class Soak {
  private static final int SAMPLES = 60;

  /** For connections that are being closed. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private Soak() {}

  public static void main(String[] arguments) throws Exception {
    double minutes = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 20;
    int rate = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 300;
    if (minutes < 0.5 || rate < 10 || rate > 10_000) {
      throw new IllegalArgumentException(
          "expected at least 0.5 minutes and 10 to 10000 messages a second");
    }
    List<String> problems = run(Duration.ofMillis((long) (minutes * 60_000)), rate, System.out);
    problems.forEach(problem -> System.out.println("FAILED: " + problem));
    System.out.println(problems.isEmpty() ? "\nFlat." : "");
    System.exit(problems.isEmpty() ? 0 : 1);
  }

  /** A server as small machines have it, whose vacuum keeps up with retentions of seconds. */
  private static EmbeddedServer server() {
    return EmbeddedServer.builder()
        .parameter("shared_buffers", "64MB")
        .parameter("max_wal_size", "256MB")
        .parameter("autovacuum_naptime", "2s")
        .parameter("autovacuum_vacuum_cost_delay", "0")
        .start();
  }

  /** Runs it, and returns what did not stay flat. */
  static List<String> run(Duration time, int rate, PrintStream out) throws Exception {
    try (EmbeddedServer server = server()) {
      List<String> problems = new ArrayList<>();
      try (HikariDataSource pool = pool(server.jdbcUrl(), 24);
          HikariDataSource other = other(server, pool)) {
        prepare(pool);
        prepare(other);
        problems.addAll(run(pool, other, time, rate, out));
        problems.addAll(Connections.notReturned(pool, PATIENCE));
        problems.addAll(Connections.notReturned(other, PATIENCE));
      }
      problems.addAll(Connections.sessionsLeft(server.jdbcUrl(), PATIENCE));
      return problems;
    }
  }

  private static List<String> run(
      HikariDataSource pool, HikariDataSource other, Duration time, int rate, PrintStream out)
      throws Exception {
    try (Traffic traffic = new Traffic(pool, rate);
        Archived archived = new Archived(other)) {
      List<Sample> samples = samples(pool, traffic, archived, time, out);
      List<String> problems = new ArrayList<>(Verdict.of(samples));
      problems.addAll(traffic.problems());
      out.printf("%,d old days made, %,d partitions left%n", traffic.oldDays(), OldDays.left(pool));
      out.printf(
          "%,d messages of old days archived, %,d partitions left%n",
          archived.archived(), archived.left());
      problems.addAll(archived.problems());
      List<RetentionState> states = RetentionState.list(pool, Schema.DEFAULT);
      states.forEach(
          state ->
              out.printf("retention of %-17s removed %,d rows%n", state.task(), state.removed()));
      problems.addAll(Verdict.ofRetention(states));
      return problems;
    }
  }

  private static HikariDataSource pool(String url, int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(size);
    return new HikariDataSource(config);
  }

  private static HikariDataSource other(EmbeddedServer server, HikariDataSource first)
      throws SQLException {
    try (Connection connection = first.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("create database archived");
    }
    return pool(server.jdbcUrl("archived"), 8);
  }

  private static void prepare(HikariDataSource pool) throws SQLException {
    new Migrations(Schema.DEFAULT).apply(pool);
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      new Partitions(Schema.DEFAULT).ensure(connection, 2);
      statement.execute(
          "update postrider.engine set least_retention = '0', least_audit_retention = '0'");
    }
  }

  private static List<Sample> samples(
      HikariDataSource pool, Traffic traffic, Archived archived, Duration time, PrintStream out)
      throws Exception {
    List<Sample> samples = new ArrayList<>();
    Connections connections = new Connections(pool);
    out.println(Sample.header());
    long start = System.nanoTime();
    Duration every = time.dividedBy(SAMPLES);
    for (int i = 1; i <= SAMPLES; i++) {
      long due = start + every.multipliedBy(i).toNanos();
      connections.lookUntil(due);
      Duration at = Duration.ofNanos(due - start);
      Sample sample =
          Sample.take(pool, connections.held(), traffic.latencies(), archived.left(), at);
      samples.add(sample);
      out.println(sample.line());
    }
    return samples;
  }
}
