package dev.postrider.lease;

import dev.postrider.internal.jdbc.Advice;
import dev.postrider.internal.jdbc.Isolation;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * Runs one query in a transaction of its own, within a time limit, on a connection of the pool,
 * whether that hands them out in auto-commit mode or not. Thread-safe.
 */
final class QueryRunner {
  @FunctionalInterface
  interface Binder {
    void bind(PreparedStatement call) throws SQLException;
  }

  @FunctionalInterface
  interface Reader<T> {
    T read(ResultSet row) throws SQLException;
  }

  private final DataSource dataSource;
  private final Schema schema;
  private final int timeoutSeconds;
  private final Consumer<StoreException> failures;
  private final Isolation isolation = new Isolation();

  QueryRunner(
      DataSource dataSource, Schema schema, int timeoutSeconds, Consumer<StoreException> failures) {
    this.dataSource = dataSource;
    this.schema = schema;
    this.timeoutSeconds = timeoutSeconds;
    this.failures = failures;
  }

  /** The rows that the query gives; {@code action} is for the message of a failure. */
  <T> List<T> rows(String action, String sql, Binder binder, Reader<T> reader) {
    try (Connection connection = dataSource.getConnection()) {
      return isolation.run(connection, () -> run(connection, sql, binder, reader));
    } catch (SQLException e) {
      StoreException failure = new StoreException(action, Advice.on(e, schema, "relay", null));
      failures.accept(failure);
      throw failure;
    }
  }

  /** The only row of a query that always gives one. */
  <T> T one(String action, String sql, Binder binder, Reader<T> reader) {
    return rows(action, sql, binder, reader).get(0);
  }

  private <T> List<T> run(Connection connection, String sql, Binder binder, Reader<T> reader)
      throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(sql)) {
      call.setQueryTimeout(timeoutSeconds);
      binder.bind(call);
      try (ResultSet row = call.executeQuery()) {
        List<T> rows = new ArrayList<>();
        while (row.next()) {
          rows.add(reader.read(row));
        }
        return rows;
      }
    }
  }
}
