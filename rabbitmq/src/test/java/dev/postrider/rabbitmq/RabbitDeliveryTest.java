package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.GetResponse;
import dev.postrider.envelope.Envelope;
import dev.postrider.message.Message;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What arrives at the broker. */
class RabbitDeliveryTest {
  @AutoClose private final TestBroker broker = TestBroker.shared();
  private final String name = TestBroker.unique("events");

  private RabbitConfig.Builder config() {
    return RabbitConfig.to(broker.broker()).exchange(name);
  }

  private GetResponse delivered(RabbitConfig.Builder config, Message message) throws Exception {
    broker.exchangeAndQueue(name, Map.of());
    try (RabbitDestination destination = RabbitDestination.open(config.build())) {
      assertThat(Given.code(Given.answer(destination, message))).isEqualTo("delivered");
    }
    List<GetResponse> taken = broker.take(name);
    assertThat(taken).hasSize(1);
    return taken.get(0);
  }

  @Test
  @Tag("HE-1")
  @Tag("HE-2")
  @Tag("HE-4")
  void propertiesHeadersAndRoutingKey() throws Exception {
    Message message = Given.message("orders", "{\"n\": 1}", Map.of("traceparent", "00-ab"));
    GetResponse response = delivered(config(), message);
    assertThat(response.getEnvelope().getExchange()).isEqualTo(name);
    assertThat(response.getEnvelope().getRoutingKey()).isEqualTo("order.placed");
    BasicProperties properties = response.getProps();
    assertThat(properties.getMessageId()).isEqualTo(message.id().toString());
    assertThat(properties.getDeliveryMode()).isEqualTo(2);
    assertThat(properties.getContentType()).isEqualTo("application/json");
    assertThat(properties.getTimestamp().toInstant())
        .isEqualTo(Instant.parse("2025-03-04T05:06:07Z"));
    assertThat(TestBroker.arrival(response).headers())
        .containsEntry("x-event-id", message.id().toString())
        .containsEntry("x-aggregate-type", "order")
        .containsEntry("x-aggregate-id", "o-1")
        .containsEntry("x-event-type", "placed")
        .containsEntry("x-group-id", "acme")
        .containsEntry("x-subsidiary-id", "north")
        .containsEntry("x-attempts", "3")
        .containsEntry("x-fencing-token", "17")
        .containsEntry("traceparent", "00-ab");
  }

  @Test
  @Tag("HE-5")
  void theStandardEnvelope() throws Exception {
    Message message = Given.message("orders");
    GetResponse response = delivered(config(), message);
    assertThat(new String(response.getBody(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"event_id\":\"%s\",\"occurred_at\":\"2025-03-04T05:06:07Z\",".formatted(message.id())
                + "\"aggregate_type\":\"order\",\"aggregate_id\":\"o-1\",\"event_type\":\"placed\","
                + "\"group_id\":\"acme\",\"subsidiary_id\":\"north\",\"payload\":{\"n\": 1}}");
  }

  @Test
  @Tag("OP-6")
  void cloudEventsHaveTheirAttributesAsHeaders() throws Exception {
    Message message = Given.message("orders");
    GetResponse response =
        delivered(config().envelope(Envelope.cloudEventsBinary("/shop")), message);
    assertThat(response.getBody()).isEqualTo(message.payload());
    assertThat(TestBroker.arrival(response).headers())
        .containsEntry("cloudEvents:specversion", "1.0")
        .containsEntry("cloudEvents:id", message.id().toString())
        .containsEntry("cloudEvents:source", "/shop")
        .containsEntry("cloudEvents:type", "placed");
  }

  @Test
  @Tag("HE-2")
  void exchangeAndRoutingKeyFollowTheirTemplates() throws Exception {
    GetResponse response =
        delivered(
            config().exchange("{topic}").routingKey("{namespace}.{group}.{aggregate_id}"),
            Given.message(name));
    assertThat(response.getEnvelope().getExchange()).isEqualTo(name);
    assertThat(response.getEnvelope().getRoutingKey()).isEqualTo("shop.acme.o-1");
  }

  @Test
  @Tag("HE-3")
  void quorumQueuesConfirmToo() throws Exception {
    broker.exchangeAndQueue(name, Map.of("x-queue-type", "quorum"));
    try (RabbitDestination destination = RabbitDestination.open(config().build())) {
      assertThat(Given.codes(Given.answers(destination, Given.messages("orders", 200))))
          .containsOnly("delivered");
    }
    assertThat(broker.take(name)).hasSize(200);
  }
}
