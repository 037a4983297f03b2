package dev.postrider.cli.bench;

import dev.postrider.internal.retention.Partitions;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** An outbox that exists only for one measurement. Used by one thread. */
public final class ScratchSchema implements AutoCloseable {
  private final DataSource dataSource;
  private final Schema schema;

  private ScratchSchema(DataSource dataSource, Schema schema) {
    this.dataSource = dataSource;
    this.schema = schema;
  }

  /** An unused name. */
  public static ScratchSchema of(DataSource dataSource) {
    long number = ThreadLocalRandom.current().nextLong(1L << 32);
    return new ScratchSchema(
        dataSource, new Schema(String.format(Locale.ROOT, "postrider_bench_%08x", number)));
  }

  public Schema schema() {
    return schema;
  }

  void create() throws SQLException {
    new Migrations(schema).apply(dataSource);
    try (Connection connection = dataSource.getConnection()) {
      new Partitions(schema).ensure(connection, 1);
    }
  }

  @Override
  public void close() throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("drop schema if exists " + schema.name() + " cascade");
    }
  }
}
