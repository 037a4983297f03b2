package dev.postrider.examples.domainevents;

import dev.postrider.inbox.Inbox;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.rabbitmq.ConsumerConfig;
import dev.postrider.rabbitmq.InboxConsumer;
import dev.postrider.rabbitmq.Received;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import javax.sql.DataSource;

/**
 * Five systems that read the events. What each does with one is a statement; the inbox is in the
 * same transaction, so a message that comes twice is done once. Thread-safe.
 */
final class Consumers implements AutoCloseable {
  /** By queue; the parameter is the envelope, {@code e} below. */
  static final Map<String, String> EFFECTS =
      Map.of(
          Events.ANALYTICS,
          """
          insert into consumers.event_count as c
          select e->>'group_id', concat(e->>'aggregate_type', '.', e->>'event_type'), 1 from event
          on conflict (group_id, event) do update set n = c.n + 1
          """,
          Events.ERP,
          """
          insert into consumers.revenue as r
          select e->>'subsidiary_id', (e->'payload'->>'amount')::numeric from event
          on conflict (subsidiary_id) do update set booked = r.booked + excluded.booked
          """,
          Events.INVENTORY,
          """
          insert into consumers.on_hand as h
          select e->>'subsidiary_id', e->'payload'->>'sku', (e->'payload'->>'quantity')::int from event
          on conflict (subsidiary_id, sku) do update set quantity = h.quantity + excluded.quantity
          """,
          Events.PRICING,
          """
          insert into consumers.shelf_price as p
          select e->'payload'->>'sku', (e->'payload'->>'amount')::numeric, 1 from event
          on conflict (sku) do update set amount = excluded.amount, changes = p.changes + 1
          """,
          Events.NOTIFICATIONS,
          """
          insert into consumers.mail
          select o.customer, format('order %s: %s', e->>'aggregate_id', e->>'event_type')
            from event join holdco.orders o on o.id = (e->>'aggregate_id')::uuid
          """);

  private final List<InboxConsumer> running = new ArrayList<>();

  Consumers(Broker broker, DataSource database) {
    for (Entry<String, String> effect : EFFECTS.entrySet()) {
      ConsumerConfig config =
          ConsumerConfig.of(broker, effect.getKey(), effect.getKey())
              .withRetryDelay(Duration.ofMillis(100));
      running.add(
          InboxConsumer.start(
              config,
              database,
              new Inbox(),
              (connection, message) -> apply(connection, effect.getValue(), message)));
    }
  }

  private static void apply(Connection connection, String effect, Received message)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("with event as (select ?::jsonb as e) " + effect)) {
      statement.setString(1, new String(message.body(), StandardCharsets.UTF_8));
      if (statement.executeUpdate() != 1) {
        throw new IllegalStateException("nothing to do for " + message.routingKey());
      }
    }
  }

  @Override
  public void close() {
    running.forEach(InboxConsumer::close);
  }
}
