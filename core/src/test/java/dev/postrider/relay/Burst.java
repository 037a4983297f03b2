package dev.postrider.relay;

import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** A producer that commits each message by itself, as fast as it can. Used by one thread. */
final class Burst implements AutoCloseable {
  private final Connection connection;

  Burst(TestDatabase database) {
    try {
      connection = database.dataSource().getConnection();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  void commit(int messages) {
    try (PreparedStatement enqueue =
        connection.prepareStatement("select postrider.enqueue('shop', 'orders', '{}')")) {
      for (int i = 0; i < messages; i++) {
        enqueue.execute();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
