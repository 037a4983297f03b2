package dev.postrider.examples.domainevents;

import dev.postrider.message.RetryPolicy;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.rabbitmq.RabbitConfig;
import dev.postrider.rabbitmq.RabbitDestination;
import dev.postrider.rabbitmq.Topology;
import dev.postrider.rabbitmq.Topology.QueueType;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.relay.RouteOptions;
import java.time.Duration;
import javax.sql.DataSource;

/** The exchange, who gets which events of it, and the relay that fills it. Holds no state. */
final class Events {
  static final String NAMESPACE = "holdco";
  static final String EXCHANGE = "holdco.events";
  static final String ANALYTICS = "analytics.ingest";
  static final String ERP = "erp.sync";
  static final String INVENTORY = "inventory.reconcile";
  static final String PRICING = "pricing.refresh";
  static final String NOTIFICATIONS = "notifications";

  private Events() {}

  /**
   * Routing keys are {@code <aggregate_type>.<event_type>}. In a binding a star stands for a whole
   * word, never for a part of one: {@code stock_*.*} would match nothing, so types are named.
   */
  static Topology topology() {
    return Topology.builder()
        .exchange(EXCHANGE, "topic")
        .queue(ANALYTICS, QueueType.QUORUM)
        .queue(ERP, QueueType.QUORUM)
        .queue(INVENTORY, QueueType.QUORUM)
        .queue(PRICING, QueueType.QUORUM)
        .queue(NOTIFICATIONS, QueueType.QUORUM)
        .bind(ANALYTICS, EXCHANGE, "#")
        .bind(ERP, EXCHANGE, "invoice.*")
        .bind(ERP, EXCHANGE, "payment_intent.*")
        .bind(INVENTORY, EXCHANGE, "stock_adjustment.*")
        .bind(PRICING, EXCHANGE, "price_list.*")
        .bind(NOTIFICATIONS, EXCHANGE, "order.*")
        .bind(NOTIFICATIONS, EXCHANGE, "payment_intent.failed")
        .deadLetters(EXCHANGE, ANALYTICS, ERP, INVENTORY, PRICING, NOTIFICATIONS)
        .build();
  }

  /** Backoff of 5 s doubling to 15 min, dead after 10 attempts: the default, spelled out. */
  static Relay relay(DataSource database, Broker broker) {
    RabbitConfig rabbit =
        RabbitConfig.to(broker)
            .exchange(EXCHANGE)
            .routingKey("{aggregate_type}.{event_type}")
            .build();
    RetryPolicy retry = RetryPolicy.DEFAULT.withMaxAttempts(10);
    return Relay.builder(database)
        .config(RelayConfig.defaults().withPollInterval(Duration.ofMillis(200)))
        .destination("rabbitmq", RabbitDestination.open(rabbit))
        .route(NAMESPACE, "*", "rabbitmq", RouteOptions.DEFAULT.withRetry(retry))
        .build();
  }
}
