package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.PostriderException;
import dev.postrider.rabbitmq.Topology.QueueType;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Exchanges, queues and bindings as configuration. */
class TopologyTest {
  @AutoClose private final TestBroker broker = TestBroker.shared();
  private final String exchange = TestBroker.unique("holdco.events");
  private final String billing = TestBroker.unique("billing");
  private final String audit = TestBroker.unique("audit");

  private Topology topology() {
    return Topology.builder()
        .exchange(exchange, "topic")
        .queue(billing, QueueType.QUORUM)
        .queue(audit, QueueType.CLASSIC, Map.of("x-max-length", 1000))
        .bind(billing, exchange, "invoice.*")
        .bind(audit, exchange, "#")
        .deadLetters(exchange, billing, audit)
        .build();
  }

  @Test
  @Tag("HE-6")
  void everythingIsDeclaredAndDeadLettersFindTheirQueue() throws Exception {
    topology().declare(broker.connection());
    topology().declare(broker.broker());
    broker.channel().basicPublish(exchange, "invoice.sent", null, new byte[] {1});
    broker.channel().basicPublish(exchange, "order.placed", null, new byte[] {2});
    await().until(() -> broker.ready(audit) == 2 && broker.ready(billing) == 1);
    var first = broker.channel().basicGet(billing, false);
    broker.channel().basicReject(first.getEnvelope().getDeliveryTag(), false);
    await().until(() -> broker.ready(billing + ".dlq") == 1);
    assertThat(broker.ready(audit + ".dlq")).isZero();
  }

  @Test
  @Tag("HE-6")
  void whatTheBrokerHasOtherwiseIsNamedFromBothSides() throws Exception {
    broker.channel().exchangeDeclare(exchange, "direct", true);
    broker.channel().queueDeclare(audit, true, false, false, Map.of("x-max-length", 5));
    broker.channel().queueDeclare(billing, true, false, false, Map.of("x-queue-type", "classic"));
    assertThatThrownBy(() -> topology().declare(broker.connection()))
        .isInstanceOfSatisfying(
            TopologyException.class,
            e -> {
              List<String> differences = e.differences();
              assertThat(differences).hasSize(3);
              assertThat(differences.get(0))
                  .contains("exchange '" + exchange + "'")
                  .contains("for type we ask for 'topic', the broker has 'direct'");
              assertThat(differences.get(1))
                  .contains("queue '" + billing + "'")
                  .containsPattern("we ask for .*, the broker has ");
              assertThat(differences.get(2))
                  .contains("queue '" + audit + "'")
                  .containsPattern("for x-.* we ask for .*, the broker has ");
            });
    // What did not differ is there all the same.
    assertThat(broker.ready(billing + ".dlq")).isZero();
  }

  @Test
  @Tag("HE-6")
  void aReplyOfAnotherFormIsShownAsItIs() {
    assertThat(
            Declaring.difference("queue 'q' (durable)", "406 PRECONDITION_FAILED - no such luck"))
        .isEqualTo(
            "queue 'q' (durable): the broker refuses it: 406 PRECONDITION_FAILED - no such luck");
  }

  @Test
  @Tag("HE-6")
  void mistakesAreFoundBeforeAnythingIsDeclared() {
    Topology.Builder wrong =
        Topology.builder()
            .exchange("e", "topic")
            .exchange("e", "direct")
            .queue("q", QueueType.CLASSIC)
            .bind("q", "f", "#")
            .bind("p", "e", "#");
    assertThatThrownBy(wrong::build)
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("e twice")
        .hasMessageContaining("a declared exchange, got Binding[queue=q, exchange=f")
        .hasMessageContaining("a declared queue, got Binding[queue=p");
  }

  @Test
  @Tag("HE-6")
  void aDestinationDeclaresItsTopologyAndDeliversAlthoughSomethingDiffers() throws Exception {
    broker
        .channel()
        .queueDeclare(
            audit, true, false, false, deadLettered(exchange + ".dlx", audit + ".dlq", 5));
    awaitCode("delivered");
    assertThat(broker.take(billing)).hasSize(1);
  }

  private void awaitCode(String code) {
    RabbitConfig config =
        RabbitConfig.to(broker.broker())
            .exchange(exchange)
            .routingKey("invoice.sent")
            .topology(topology())
            .build();
    try (RabbitDestination destination = RabbitDestination.open(config)) {
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> Given.code(Given.answer(destination, Given.message("orders"))).equals(code));
    }
  }

  private static Map<String, Object> deadLettered(String exchange, String key, int maxLength) {
    return Map.of(
        "x-dead-letter-exchange",
        exchange,
        "x-dead-letter-routing-key",
        key,
        "x-max-length",
        maxLength);
  }

  @ParameterizedTest
  @ValueSource(strings = {".dlq", ""})
  @Tag("HE-6")
  void aQueueThatWasThereBeforeKeepsItsDeadLettersWhateverKeyItHas(String ending) throws Exception {
    broker
        .channel()
        .queueDeclare(
            audit, true, false, false, deadLettered(exchange + ".dlx", audit + ending, 1000));
    if (ending.isEmpty()) {
      assertThatThrownBy(() -> topology().declare(broker.connection()))
          .isInstanceOfSatisfying(
              TopologyException.class, e -> assertThat(e.losesDeadLetters()).isFalse())
          .hasMessageContaining(audit + ".dlq");
    } else {
      topology().declare(broker.connection());
    }
    awaitCode("delivered");
    await().until(() -> broker.ready(audit) == 1);
    var first = broker.channel().basicGet(audit, false);
    broker.channel().basicReject(first.getEnvelope().getDeliveryTag(), false);
    await().until(() -> broker.ready(audit + ".dlq") == 1);
  }

  @Test
  @Tag("HE-6")
  void nothingIsDeliveredIntoAQueueWhoseDeadLettersAreBoundNowhere() throws Exception {
    broker
        .channel()
        .queueDeclare(audit, true, false, false, deadLettered(exchange + ".dlx", "other", 1000));
    assertThatThrownBy(() -> topology().declare(broker.connection()))
        .isInstanceOfSatisfying(
            TopologyException.class, e -> assertThat(e.losesDeadLetters()).isTrue())
        .hasMessageContaining("dead letters would be lost");
    awaitCode("unavailable dead_letters_lost");
    assertThat(broker.ready(billing)).isZero();
  }

  @Test
  @Tag("HE-6")
  void aQueueWithoutTheDeadLettersThatItShouldHaveIsAnErrorToo() throws Exception {
    broker.channel().queueDeclare(audit, true, false, false, Map.of("x-max-length", 1000));
    awaitCode("unavailable dead_letters_lost");
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          direct, dlq, dlq, true
          direct, #, dlq, false
          direct, dlq, , false
          topic, #, , true
          topic, billing.#, billing.dlq, true
          topic, *.dlq, billing.dlq, true
          topic, *, billing.dlq, false
          topic, billing.*.#.dlq, billing.a.dlq, true
          topic, billing.*.#.dlq, billing.dlq, false
          fanout, '', , true
          """)
  @Tag("HE-6")
  void aDeadLetterExchangeNeedsABindingForItsKey(
      String type, String bound, String key, boolean fine) {
    Map<String, Object> arguments = new HashMap<>(Map.of("x-dead-letter-exchange", "dead"));
    if (key != null) {
      arguments.put("x-dead-letter-routing-key", key);
    }
    Topology.Builder given =
        Topology.builder()
            .exchange("dead", type)
            .queue("billing", QueueType.CLASSIC, arguments)
            .queue("letters", QueueType.CLASSIC)
            .bind("letters", "dead", bound);
    if (fine) {
      assertThat(given.build().queues()).hasSize(2);
    } else {
      assertThatThrownBy(given::build)
          .isInstanceOf(PostriderException.class)
          .hasMessageContaining("expected a declared dead-letter exchange 'dead' with a queue");
    }
  }
}
