package dev.postrider.docs;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.jackson.Jackson3Codec;
import dev.postrider.message.JsonCodec;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import tools.jackson.databind.json.JsonMapper;

public final class FirstMessage {
  record OrderCreated(String orderId) {}

  private static final JsonCodec JSON = new Jackson3Codec(new JsonMapper());
  private static final Outbox OUTBOX = new Outbox(JSON);

  public static void main(String[] args) throws Exception {
    PGSimpleDataSource dataSource = new PGSimpleDataSource(); // a pool in a real service
    dataSource.setUrl(args[0]);

    // 1. Create the tables. Safe at every start, from many processes at once.
    new Migrations(Schema.DEFAULT).apply(dataSource);

    // 3. Start a relay, in the same process or in another one. Run as many as you like.
    CountDownLatch mailed = new CountDownLatch(1);
    try (Relay relay =
        Relay.builder(dataSource)
            .destination(
                "mail",
                HandlerDestination.of(
                    4,
                    message -> {
                      OrderCreated event = JSON.read(message, OrderCreated.class);
                      System.out.println("mail for order " + event.orderId());
                      mailed.countDown();
                      return Outcome.delivered();
                    }))
            .route("shop", "orders", "mail")
            .build()
            .start()) {
      createOrder(dataSource, UUID.randomUUID().toString());
      mailed.await();
    }
  }

  /** 2. Enqueue a message in the transaction that writes the order. */
  static void createOrder(DataSource dataSource, String orderId) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try (PreparedStatement insert =
          connection.prepareStatement("insert into orders (id) values (?)")) {
        insert.setString(1, orderId);
        insert.executeUpdate();
      }
      OUTBOX.enqueue(
          connection,
          NewMessage.to("shop", "orders")
              .key(orderId)
              .eventType("created")
              .json(new OrderCreated(orderId))
              .build());
      connection.commit(); // the order and its message, or neither
    }
  }
}
