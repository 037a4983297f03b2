package dev.postrider.docs;

import dev.postrider.dispatch.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.store.Migrations;
import dev.postrider.store.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** The README's three steps; a test runs them and compares them with the README. */
final class FirstMessage {
  private FirstMessage() {}

  static void createTheTables(DataSource dataSource) throws SQLException {
    // step 1
    new Migrations(Schema.DEFAULT).apply(dataSource);
    // end
  }

  static void leaveAMessage(DataSource dataSource, String orderId) throws SQLException {
    // step 2
    Outbox outbox = new Outbox();
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try (PreparedStatement insert =
          connection.prepareStatement("insert into orders (id) values (?)")) {
        insert.setString(1, orderId);
        insert.executeUpdate();
      }
      outbox.enqueue(
          connection,
          NewMessage.to("shop", "orders")
              .key(orderId)
              .eventType("created")
              .json("{\"order\": \"" + orderId + "\"}")
              .build());
      connection.commit(); // the order and its message, or neither
    }
    // end
  }

  static Relay carry(DataSource dataSource, Consumer<String> mailer) {
    // step 3
    Relay relay =
        Relay.builder(dataSource)
            .destination(
                "mail",
                HandlerDestination.of(
                    4,
                    message -> {
                      mailer.accept(message.text());
                      return Outcome.delivered();
                    }))
            .route("shop", "orders", "mail")
            .build()
            .start(); // until relay.close()
    // end
    return relay;
  }
}
