package dev.postrider.testkit;

import dev.postrider.embedded.EmbeddedServer;
import dev.postrider.message.PostriderException;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A real PostgreSQL server with Postrider's schema, for tests. Thread-safe. */
public final class TestPostgres implements AutoCloseable {
  private final EmbeddedServer server;
  private final String url;

  private TestPostgres(EmbeddedServer server, String url) {
    this.server = server;
    this.url = url;
    try {
      new Migrations(Schema.DEFAULT).apply(dataSource());
    } catch (SQLException e) {
      throw new PostriderException("the schema could not be created", e);
    }
  }

  /** Starts a server that is quick and would not survive a crash of the machine. */
  public static TestPostgres start() {
    return first(EmbeddedServer.builder().parameter("fsync", "off").start());
  }

  /** Starts a server that keeps every committed transaction, also if it is killed. */
  public static TestPostgres startDurable() {
    return first(EmbeddedServer.start());
  }

  /** Uses a server that the caller has started, such as one that keeps its data. */
  public static TestPostgres on(EmbeddedServer server) {
    return first(server);
  }

  private static TestPostgres first(EmbeddedServer server) {
    return new TestPostgres(server, server.jdbcUrl());
  }

  /** One more database on the same server, with the schema and nothing else in it. */
  public TestPostgres another(String database) {
    execute("create database " + database);
    return new TestPostgres(server, server.jdbcUrl(database));
  }

  /** The server, to restart or to kill it. */
  public EmbeddedServer server() {
    return server;
  }

  public String jdbcUrl() {
    return url;
  }

  public DataSource dataSource() {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(jdbcUrl());
    return dataSource;
  }

  public void execute(String sql) {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new PostriderException("failed: " + sql, e);
    }
  }

  /** The first column of every row, as text. */
  public List<String> column(String sql) {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> values = new ArrayList<>();
      while (rows.next()) {
        values.add(String.valueOf(rows.getString(1)));
      }
      return values;
    } catch (SQLException e) {
      throw new PostriderException("failed: " + sql, e);
    }
  }

  /** The only value of the only row, a number. */
  public long count(String sql) {
    List<String> values = column(sql);
    if (values.size() != 1) {
      throw new PostriderException("expected one row, got " + values.size() + ": " + sql);
    }
    return Long.parseLong(values.get(0));
  }

  /** Ends the server, with all its databases. */
  @Override
  public void close() {
    server.close();
  }
}
