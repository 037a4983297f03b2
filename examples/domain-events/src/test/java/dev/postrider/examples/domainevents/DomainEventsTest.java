package dev.postrider.examples.domainevents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.GetResponse;
import dev.postrider.message.MessageState;
import dev.postrider.operations.Messages;
import dev.postrider.relay.Relay;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.replay.ReplayJob;
import dev.postrider.schema.Schema;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** From a change in the group's tables to the effects in five other systems. */
class DomainEventsTest {
  @AutoClose private final Group group = new Group();

  private Relay relay() {
    return Events.relay(group.database.dataSource(), group.broker).start();
  }

  private Consumers consumers() {
    return new Consumers(group.broker, group.database.dataSource());
  }

  private void oneOfEverything() throws SQLException {
    UUID order = group.north.order("ann", "tea", "12.50");
    group.north.moveStock("tea", -1);
    group.north.invoice(order, "12.50");
    group.north.setPrice("tea", "13.00");
  }

  private void assertBooksAgree() {
    for (Books.Line line : Books.LINES) {
      assertThat(group.database.count(line.done()))
          .as(line.what())
          .isEqualTo(group.database.count(line.happened()));
    }
  }

  @Test
  @Tag("HE-1")
  @Tag("HE-2")
  @Tag("HE-3")
  @Tag("HE-4")
  @Tag("HE-5")
  void anEventCarriesItsScopeItsRouteAndItsEnvelope() throws Exception {
    String tap = group.tap();
    try (Relay relay = relay()) {
      UUID order = group.north.order("ann", "tea", "12.50");
      GetResponse created = group.take(tap, 1).get(0);
      group.north.setPrice("tea", "13.00");
      GetResponse priced = group.take(tap, 1).get(0);
      assertThat(created.getEnvelope().getRoutingKey()).isEqualTo("order.created");
      assertThat(priced.getEnvelope().getRoutingKey()).isEqualTo("price_list.changed");
      assertThat(text(created, "x-group-id")).isEqualTo("acme");
      assertThat(text(created, "x-subsidiary-id")).isEqualTo("north");
      assertThat(text(created, "x-aggregate-id")).isEqualTo(order.toString());
      // The group's own act has no subsidiary.
      assertThat(text(priced, "x-group-id")).isEqualTo("acme");
      assertThat(priced.getProps().getHeaders()).doesNotContainKey("x-subsidiary-id");
      assertThat(created.getProps().getDeliveryMode()).isEqualTo(2);
      assertThat(new String(created.getBody(), StandardCharsets.UTF_8))
          .contains("\"event_id\":\"" + created.getProps().getMessageId() + "\"")
          .contains("\"group_id\":\"acme\",\"subsidiary_id\":\"north\"")
          .contains("\"total_amount\":");
      // Delivered, because confirmed.
      await().until(() -> group.database.count("select count(*) from postrider.queue") == 0);
    }
  }

  private static String text(GetResponse response, String header) {
    return String.valueOf(response.getProps().getHeaders().get(header));
  }

  @Test
  @Tag("HE-2")
  @Tag("HE-6")
  void everyQueueGetsItsEventsAndNoOthers() throws Exception {
    try (Relay relay = relay()) {
      oneOfEverything();
      assertThat(keys(group.take(Events.ANALYTICS, 4)))
          .containsExactlyInAnyOrder(
              "order.created", "stock_adjustment.posted", "invoice.issued", "price_list.changed");
      assertThat(keys(group.take(Events.NOTIFICATIONS, 1))).containsExactly("order.created");
      assertThat(keys(group.take(Events.INVENTORY, 1))).containsExactly("stock_adjustment.posted");
      assertThat(keys(group.take(Events.ERP, 1))).containsExactly("invoice.issued");
      assertThat(keys(group.take(Events.PRICING, 1))).containsExactly("price_list.changed");
    }
    for (String queue : Consumers.EFFECTS.keySet()) {
      assertThat(group.channel.messageCount(queue)).as(queue).isZero();
    }
  }

  private static List<String> keys(List<GetResponse> responses) {
    return responses.stream().map(response -> response.getEnvelope().getRoutingKey()).toList();
  }

  @Test
  @Tag("HE-1")
  void aChangeThatIsRolledBackWasNeverAnEvent() {
    // The invoice's order does not exist.
    assertThatThrownBy(() -> group.north.invoice(UUID.randomUUID(), "1.00"))
        .isInstanceOf(SQLException.class);
    assertThatThrownBy(() -> group.north.order("ann", "tea", "much"))
        .isInstanceOf(SQLException.class);
    assertThat(group.database.count("select count(*) from postrider.message")).isZero();
  }

  @Test
  @Tag("HE-8")
  @Tag("HE-10")
  void aReplayOfADateRangeRepeatsNoEffect() throws Exception {
    String tap = group.tap();
    Instant before = Instant.now().minusSeconds(60);
    try (Relay relay = relay();
        Consumers consumers = consumers()) {
      for (int i = 0; i < 10; i++) {
        oneOfEverything();
      }
      group.untilCount(0, Books.UNDONE);
      assertBooksAgree();
      assertThat(group.take(tap, 40)).extracting(r -> text(r, "x-redelivery")).containsOnly("null");

      Replay replay = new Replay(group.database.dataSource(), Schema.DEFAULT);
      ReplayFilter range = ReplayFilter.between(before, Instant.now().plusSeconds(60));
      assertThat(replay.count(range, n -> {}).requeued()).isEqualTo(40);
      ReplayJob job = replay.start("test", range);
      ReplayJob done = replay.run("test", job.id(), Pacer.unlimited(), state -> true);
      assertThat(done.requeued()).isEqualTo(40);
      // They do come again, and say so.
      assertThat(group.take(tap, 40)).extracting(r -> text(r, "x-redelivery")).containsOnly("true");

      oneOfEverything(); // behind them in every queue
      group.untilCount(0, Books.UNDONE);
      assertBooksAgree();
    }
  }

  @Test
  @Tag("HE-8")
  void whatOneConsumerCannotHandleEndsInItsDeadLettersAndStopsNobody() throws Exception {
    try (Relay relay = relay();
        Consumers consumers = consumers()) {
      UUID order = group.north.order("ann", "tea", "12.50");
      group.untilCount(1, "select count(*) from consumers.mail");
      // The mail system looks up the customer, who has gone; analytics does not care.
      group.database.execute("delete from holdco.orders");
      group.north.cancel(order);
      await().until(() -> group.channel.messageCount(Events.NOTIFICATIONS + ".dlq") == 1);
      group.untilCount(2, "select sum(n) from consumers.event_count");
      group.north.order("bob", "tea", "1.00");
      group.untilCount(2, "select count(*) from consumers.mail");
    }
    GetResponse dead = group.take(Events.NOTIFICATIONS + ".dlq", 1).get(0);
    assertThat(text(dead, "x-event-type")).isEqualTo("cancelled");
    assertThat(group.channel.messageCount(Events.ANALYTICS + ".dlq")).isZero();
  }

  @Test
  @Tag("HE-9")
  void anOrderCanBeTraced() throws Exception {
    UUID order = group.north.order("ann", "tea", "12.50");
    oneOfEverything();
    group.north.cancel(order);
    try (Relay relay = relay()) {
      group.untilCount(0, "select count(*) from postrider.queue");
    }
    assertThat(
            new Messages(group.database.dataSource(), Schema.DEFAULT)
                .ofAggregate("order", order.toString(), null, 10))
        .extracting(event -> event.eventType() + " " + event.state())
        .containsExactly(
            "created " + MessageState.DELIVERED, "cancelled " + MessageState.DELIVERED);
  }

  /** The backlog survives a crash of the broker, and so do the effects. */
  @Test
  @Tag("HE-3")
  @Tag("HE-8")
  void aBrokerThatIsKilledLosesAndRepeatsNothing() throws Exception {
    group.server.storeDeclarations();
    try (Relay relay = relay();
        Consumers consumers = consumers()) {
      for (int i = 0; i < 50; i++) {
        oneOfEverything();
        if (i == 25) {
          group.server.kill();
        }
      }
      group.server.restart();
      await().atMost(Duration.ofMinutes(2)).until(() -> group.database.count(Books.UNDONE) == 0);
    }
    assertBooksAgree();
  }
}
