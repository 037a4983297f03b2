package dev.postrider.examples.domainevents;

import dev.postrider.enqueue.Outbox;
import dev.postrider.internal.text.Json;
import dev.postrider.message.NewMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * What happens in one subsidiary of a group. Each method is one transaction with the change and its
 * event in it: both are there in the end, or neither. Thread-safe.
 */
final class Company {
  private final DataSource database;
  private final Outbox outbox = new Outbox();
  private final String group;
  private final String subsidiary;

  Company(DataSource database, String group, String subsidiary) {
    this.database = database;
    this.group = group;
    this.subsidiary = subsidiary;
  }

  UUID order(String customer, String sku, String total) throws SQLException {
    UUID id = UUID.randomUUID();
    String insert = "insert into holdco.orders values (?, ?, ?, ?, ?, ?::numeric)";
    transact(
        connection -> {
          update(connection, insert, id, group, subsidiary, customer, sku, total);
          Map<String, String> order =
              Map.of("customer", customer, "sku", sku, "total_amount", total);
          emit(connection, tenant(), "order.created", id, order);
        });
    return id;
  }

  void cancel(UUID order) throws SQLException {
    transact(
        connection -> {
          update(connection, "update holdco.orders set cancelled = true where id = ?", order);
          emit(connection, tenant(), "order.cancelled", order, Map.of());
        });
  }

  void invoice(UUID order, String amount) throws SQLException {
    UUID id = UUID.randomUUID();
    String insert = "insert into holdco.invoice values (?, ?, ?::numeric)";
    transact(
        connection -> {
          update(connection, insert, id, order, amount);
          Map<String, String> invoice = Map.of("order_id", order.toString(), "amount", amount);
          emit(connection, tenant(), "invoice.issued", id, invoice);
        });
  }

  void moveStock(String sku, int quantity) throws SQLException {
    String move =
        """
        insert into holdco.stock as s values (?, ?, ?)
        on conflict (subsidiary_id, sku) do update set on_hand = s.on_hand + excluded.on_hand
        """;
    transact(
        connection -> {
          update(connection, move, subsidiary, sku, quantity);
          Map<String, String> moved = Map.of("sku", sku, "quantity", Integer.toString(quantity));
          emit(connection, tenant(), "stock_adjustment.posted", sku, moved);
        });
  }

  /** The group's own act: its event has no subsidiary. */
  void setPrice(String sku, String amount) throws SQLException {
    String set =
        """
        insert into holdco.price values (?, ?::numeric)
        on conflict (sku) do update set amount = excluded.amount
        """;
    transact(
        connection -> {
          update(connection, set, sku, amount);
          Map<String, String> price = Map.of("sku", sku, "amount", amount);
          emit(connection, group, "price_list.changed", sku, price);
        });
  }

  private String tenant() {
    return group + "/" + subsidiary;
  }

  /**
   * Events of one aggregate have one key, so they arrive in their order.
   *
   * @param name aggregate type and event type, as in the routing key
   */
  private void emit(
      Connection connection, String tenant, String name, Object id, Map<String, String> payload)
      throws SQLException {
    String type = name.substring(0, name.indexOf('.'));
    outbox.enqueue(
        connection,
        NewMessage.to(Events.NAMESPACE, type)
            .tenant(tenant)
            .aggregate(type, id.toString())
            .eventType(name.substring(type.length() + 1))
            .key(tenant + "/" + type + "/" + id)
            .json(Json.write(payload))
            .build());
  }

  private interface Work {
    void on(Connection connection) throws SQLException;
  }

  private void transact(Work work) throws SQLException {
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      work.on(connection); // closing without a commit rolls back
      connection.commit();
    }
  }

  private static void update(Connection connection, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      statement.executeUpdate();
    }
  }
}
