package dev.postrider.bench.limit;

import dev.postrider.bench.peer.Order;
import dev.postrider.bench.peer.Site;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** One insert into one table; handling deletes its rows in batches and records nothing. */
public final class PlainTable extends Limit {
  private static final int DELETERS = 2;
  private static final String INSERT = "insert into plain_outbox (topic, payload) values (?, ?)";
  private static final String DELETE =
      """
      delete from plain_outbox where id in (
        select id from plain_outbox order by id limit 500 for update skip locked)
      returning payload
      """;

  @Override
  public String idle() {
    return "select not exists (select 1 from plain_outbox)";
  }

  @Override
  void write(Connection connection, Order order) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setString(1, "orders");
      insert.setString(2, order.payload());
      insert.executeUpdate();
    }
  }

  @Override
  Thread handling(Site site, Consumer<String> handler) {
    return new Thread(() -> deleteAll(site, handler), "deleters");
  }

  private static void deleteAll(Site site, Consumer<String> handler) {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < DELETERS; i++) {
      threads.add(new Thread(() -> delete(site, handler), "deleter"));
    }
    threads.forEach(Thread::start);
  }

  private static void delete(Site site, Consumer<String> handler) {
    try (Connection connection = site.dataSource().getConnection();
        PreparedStatement delete = connection.prepareStatement(DELETE)) {
      while (batch(delete, handler) > 0) {
        // until nothing is left
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int batch(PreparedStatement delete, Consumer<String> handler) throws SQLException {
    int taken = 0;
    try (ResultSet rows = delete.executeQuery()) {
      while (rows.next()) {
        handler.accept(rows.getString(1));
        taken++;
      }
    }
    return taken;
  }
}
