package dev.postrider.docs;

import dev.postrider.inbox.Inbox;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.rabbitmq.ConsumerConfig;
import dev.postrider.rabbitmq.InboxConsumer;
import dev.postrider.rabbitmq.RabbitConfig;
import dev.postrider.rabbitmq.RabbitDestination;
import dev.postrider.rabbitmq.Topology;
import dev.postrider.rabbitmq.Topology.QueueType;
import dev.postrider.relay.Relay;
import java.sql.PreparedStatement;
import javax.sql.DataSource;

/** The code that docs/destinations/rabbitmq.md shows; a test runs it and compares the two. */
final class RabbitExample {
  private RabbitExample() {}

  static Broker broker(String address, String user, String password) {
    // step 1
    Broker broker =
        Broker.at(address) // several, if the broker is a cluster
            .credentials(user, password)
            .virtualHost("/")
            .connectionName("shop-relay")
            .build();
    // end
    return broker;
  }

  static void declare(Broker broker) {
    // step 2
    Topology.builder()
        .exchange("holdco.events", "topic")
        .queue("billing", QueueType.QUORUM)
        .bind("billing", "holdco.events", "order.*")
        .deadLetters("holdco.events", "billing") // holdco.events.dlx and billing.dlq
        .build()
        .declare(broker);
    // end
  }

  static Relay carry(DataSource database, Broker broker) {
    // step 3
    RabbitConfig config =
        RabbitConfig.to(broker)
            .exchange("holdco.events")
            .routingKey("{aggregate_type}.{event_type}")
            .build();
    Relay relay =
        Relay.builder(database)
            .destination("rabbitmq", RabbitDestination.open(config))
            .route("shop", "*", "rabbitmq")
            .build()
            .start();
    // end
    return relay;
  }

  static InboxConsumer consume(DataSource consumersDatabase, Broker broker) {
    // step 4
    InboxConsumer consumer =
        InboxConsumer.start(
            ConsumerConfig.of(broker, "billing", "billing"),
            consumersDatabase,
            new Inbox(),
            (connection, message) -> {
              try (PreparedStatement insert =
                  connection.prepareStatement("insert into invoice values (?, ?)")) {
                insert.setObject(1, message.id());
                insert.setString(2, message.headers().get("x-aggregate-id"));
                insert.executeUpdate();
              }
            });
    // end
    return consumer;
  }
}
