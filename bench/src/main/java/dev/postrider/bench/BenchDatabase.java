package dev.postrider.bench;

import dev.postrider.internal.retention.Partitions;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A migrated database, and how to bring it back to rest. Thread-safe: each call connects anew. */
final class BenchDatabase {
  private final String jdbcUrl;
  private final Meter meter = new Meter(this);

  private BenchDatabase(String jdbcUrl) {
    this.jdbcUrl = jdbcUrl;
  }

  static BenchDatabase migrated(String jdbcUrl) throws SQLException {
    BenchDatabase database = new BenchDatabase(jdbcUrl);
    database.migrate(Schema.DEFAULT);
    return database;
  }

  /** Tables and, as any relay would make them, partitions for today and tomorrow. */
  void migrate(Schema schema) throws SQLException {
    new Migrations(schema).apply(dataSource());
    try (Connection connection = dataSource().getConnection()) {
      new Partitions(schema).ensure(connection, 7);
    }
  }

  /** One that is migrated already. */
  static BenchDatabase at(String jdbcUrl) {
    return new BenchDatabase(jdbcUrl);
  }

  static DataSource dataSource(String url) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(url);
    return dataSource;
  }

  /** For one measurement at a time. */
  Meter meter() {
    return meter;
  }

  String jdbcUrl() {
    return jdbcUrl;
  }

  DataSource dataSource() {
    return dataSource(jdbcUrl);
  }

  /** A connection with an open transaction. */
  Connection transaction() throws SQLException {
    Connection connection = dataSource().getConnection();
    connection.setAutoCommit(false);
    return connection;
  }

  void execute(String sql) throws SQLException {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  long count(String sql) throws SQLException {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  /**
   * So that no round pays for what its predecessor left: dead rows, stale statistics, dirty pages.
   */
  void settle() throws SQLException {
    execute("vacuum (analyze)");
    execute("checkpoint");
  }
}
