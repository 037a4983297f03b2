package dev.postrider.bench.limit;

import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Site;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Consumer;

/** Handling reads the table once and changes nothing. */
public final class TableScan extends Limit {
  private static final int FETCH = 1_000;

  @Override
  void write(Connection connection, Order order) {
    throw new UnsupportedOperationException("it only reads");
  }

  @Override
  Thread handling(Site site, Consumer<String> handler) {
    return new Thread(() -> read(site, handler), "reader");
  }

  private static void read(Site site, Consumer<String> handler) {
    try (Connection connection = site.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false); // or the driver reads everything before the first row
      statement.setFetchSize(FETCH);
      try (ResultSet rows = statement.executeQuery("select payload from plain_outbox")) {
        while (rows.next()) {
          handler.accept(rows.getString(1));
        }
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
