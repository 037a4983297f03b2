package dev.postrider.bench;

import dev.postrider.embedded.EmbeddedServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/**
 * The server under test, with parameters as production has them and the same for every competitor:
 * fsync and synchronous_commit stay on. Not thread-safe.
 */
final class BenchServer implements AutoCloseable {
  private final EmbeddedServer server;

  private BenchServer(EmbeddedServer server) {
    this.server = server;
  }

  static BenchServer start(Map<String, String> parameters) {
    return new BenchServer(
        EmbeddedServer.builder()
            .parameter("shared_buffers", "256MB")
            .parameter("max_wal_size", "4GB")
            .parameter("min_wal_size", "1GB")
            .parameter("checkpoint_timeout", "15min")
            .parameter("effective_cache_size", "1GB")
            .parameters(parameters)
            .start());
  }

  /** A fresh, migrated database. */
  BenchDatabase database(String scenario) throws SQLException {
    String name = "bench_" + scenario.replace('-', '_');
    try (Connection connection = BenchDatabase.dataSource(server.jdbcUrl()).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("drop database if exists " + name + " with (force)");
      statement.execute("create database " + name);
    }
    return BenchDatabase.migrated(server.jdbcUrl(name));
  }

  @Override
  public void close() {
    server.close();
  }
}
