package dev.postrider.testing;

import dev.postrider.embedded.EmbeddedServer;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A fresh, migrated database on a real server. The server of each version is shared by all tests of
 * the run and ends with it; fsync is off, since no test here is about a crash of the machine. The
 * migrations run once per server; the other databases are copies of the first.
 */
public final class TestDatabase {
  /** The versions that are tested; docs/operating.md says what is supported. */
  public static final int OLDEST = 15;

  public static final int NEWEST = 18;

  private static final ConcurrentHashMap<Integer, EmbeddedServer> SERVERS =
      new ConcurrentHashMap<>();
  private static final ConcurrentHashMap<EmbeddedServer, String> TEMPLATES =
      new ConcurrentHashMap<>();
  private static final AtomicInteger COUNTER = new AtomicInteger();

  private final EmbeddedServer server;
  private final String name;

  private TestDatabase(EmbeddedServer server, String name) {
    this.server = server;
    this.name = name;
  }

  /** A migrated database on the newest PostgreSQL. */
  public static TestDatabase create() {
    return create(NEWEST);
  }

  /** A migrated database on PostgreSQL 15 to 18. */
  public static TestDatabase create(int version) {
    return on(server(version));
  }

  /** A migrated database on a server of the test's own. */
  public static TestDatabase on(EmbeddedServer server) {
    return copy(server, TEMPLATES.computeIfAbsent(server, TestDatabase::template));
  }

  private static String template(EmbeddedServer server) {
    TestDatabase database = copy(server, "template1");
    try {
      new Migrations(Schema.DEFAULT).apply(database.dataSource());
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return database.name;
  }

  /** A database with nothing in it. */
  public static TestDatabase empty(int version) {
    return copy(server(version), "template1");
  }

  private static EmbeddedServer server(int version) {
    return SERVERS.computeIfAbsent(version, TestDatabase::start);
  }

  private static TestDatabase copy(EmbeddedServer server, String template) {
    String name = "test_" + COUNTER.incrementAndGet();
    try (Connection connection = dataSource(server.jdbcUrl()).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("create database " + name + " template " + template);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return new TestDatabase(server, name);
  }

  private static EmbeddedServer start(int version) {
    EmbeddedServer.Builder builder =
        EmbeddedServer.builder()
            .parameter("fsync", "off")
            .parameter("shared_preload_libraries", "auto_explain");
    return version == NEWEST
        ? builder.start()
        : builder.binaries(Path.of("target/postgres-" + version)).start();
  }

  public String jdbcUrl() {
    return server.jdbcUrl(name);
  }

  public DataSource dataSource() {
    return dataSource(jdbcUrl());
  }

  private static DataSource dataSource(String url) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(url);
    return dataSource;
  }

  /** A connection with an open transaction, as a producer has it. */
  public Connection transaction() throws SQLException {
    Connection connection = dataSource().getConnection();
    connection.setAutoCommit(false);
    return connection;
  }

  /**
   * For tests that count pages: after an autovacuum or its analyze, sessions read the catalog again
   * and make new plans, and that would count as well.
   */
  public void withoutAutovacuum() {
    execute(
        """
        do $$ declare t regclass; begin
          for t in select oid from pg_class
            where relkind = 'r' and relnamespace = 'postrider'::regnamespace loop
            execute format('alter table %s set (autovacuum_enabled = false)', t);
          end loop;
        end $$
        """);
  }

  public void execute(String sql) {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** The first column of every row, as text. */
  public List<String> column(String sql) {
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

  /** The only value of the only row. */
  public String value(String sql) {
    List<String> values = column(sql);
    if (values.size() != 1) {
      throw new IllegalStateException(values.size() + " rows: " + sql);
    }
    return values.get(0);
  }

  public long count(String sql) {
    return Long.parseLong(value(sql));
  }

  /** Puts so many messages into the log alone, of 500 tenants and 5,000 aggregates. */
  public void fillLog(int count) {
    execute(
        """
        insert into postrider.message (id, created_at, route, tenant, aggregate_type, aggregate_id, payload)
        select postrider.new_id(), now(), 99, 't' || i %% 500, 'invoice', i %% 5000, ''
          from generate_series(1, %d) i
        """
            .formatted(count));
  }

  /** The plans that the server used for a statement, those inside functions included. */
  public String plan(String sql) throws SQLException {
    StringBuilder plans = new StringBuilder();
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          """
          set auto_explain.log_min_duration = 0;
          set auto_explain.log_nested_statements = on;
          set client_min_messages = log
          """);
      statement.execute(sql);
      for (SQLWarning note = statement.getWarnings(); note != null; note = note.getNextWarning()) {
        plans.append(note.getMessage()).append('\n');
      }
    }
    return plans.toString();
  }
}
