package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** A database in which everything is old at once, and short ways to use and retire keys. */
final class Keys {
  final TestDatabase database;
  private final Outbox outbox = new Outbox();

  Keys(int version) {
    database = TestDatabase.create(version);
    database.execute("update postrider.engine set least_retention = '0'");
    database.execute("select postrider.intern_route('shop', 'orders')");
  }

  /** The ways to enqueue. */
  enum Way {
    SQL,
    QUICK,
    BATCH
  }

  /** Enqueues a message in the connection's transaction and returns its sequence. */
  long send(Connection connection, Way way, String key) throws SQLException {
    if (way == Way.SQL) {
      try (Statement statement = connection.createStatement();
          ResultSet row =
              statement.executeQuery(
                  "select sequence from postrider.enqueue('shop', 'orders', '{}', '"
                      + key
                      + "')")) {
        row.next();
        return row.getLong(1);
      }
    }
    NewMessage message = NewMessage.to("shop", "orders").key(key).json("{}").build();
    Enqueued enqueued =
        way == Way.QUICK
            ? outbox.enqueue(connection, message)
            : outbox.enqueue(connection, List.of(message)).get(0);
    return java.util.Objects.requireNonNull(enqueued.sequence());
  }

  long send(Way way, String key) throws SQLException {
    try (Connection connection = database.transaction()) {
      long sequence = send(connection, way, key);
      connection.commit();
      return sequence;
    }
  }

  void send(String key, int count) {
    database.execute(
        "select count(postrider.enqueue('shop', 'orders', '{}', key => '%s')) from generate_series(1, %d)"
            .formatted(key, count));
  }

  /** As if everything had been delivered and its messages were past their retention. */
  void forgetMessages() {
    database.execute("delete from postrider.queue; delete from postrider.message");
  }

  /** Retires idle keys, on a connection of its own; returns how many. */
  long retire() {
    return database.count("select removed from postrider.retire_keys('0', 1000, null)");
  }

  static long retire(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("select removed from postrider.retire_keys('0', 1000, null)")) {
      row.next();
      return row.getLong(1);
    }
  }

  List<String> known() {
    return database.column("select distinct key from postrider.ordering_key order by key");
  }

  void assertRetired(String... keys) {
    assertThat(known()).doesNotContain(keys);
  }
}
