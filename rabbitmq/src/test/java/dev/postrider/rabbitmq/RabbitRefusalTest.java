package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.GetResponse;
import dev.postrider.envelope.Envelope;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the broker will not take: each has its name, and none of it counts as delivered. */
class RabbitRefusalTest {
  @AutoClose private final TestBroker broker = TestBroker.shared();
  private final String name = TestBroker.unique("refusals");
  private RabbitDestination destination;

  @BeforeEach
  void openDestination() throws Exception {
    broker.exchangeAndQueue(name, Map.of("x-max-length", 2, "x-overflow", "reject-publish"));
    destination = open(config());
  }

  @AfterEach
  void closeDestination() {
    destination.close();
  }

  /** One channel, so that every message is another one's neighbour. */
  private RabbitConfig.Builder config() {
    return RabbitConfig.to(broker.broker()).exchange("{topic}").channels(1);
  }

  private static RabbitDestination open(RabbitConfig.Builder config) {
    return RabbitDestination.open(config.build());
  }

  @Test
  @Tag("HE-3")
  void aFullQueueRefusesByNack() throws Exception {
    List<String> codes = Given.codes(Given.answers(destination, Given.messages(name, 20)));
    assertThat(codes).contains("retryable nack").contains("delivered");
    assertThat(broker.take(name)).hasSize((int) codes.stream().filter("delivered"::equals).count());
    assertThat(Given.code(Given.answer(destination, Given.message(name)))).isEqualTo("delivered");
  }

  @Test
  @Tag("HE-3")
  void whatNoQueueGetsIsReturnedAndNotDelivered() throws Exception {
    broker.channel().queueUnbind(name, name, "#");
    List<Outcome> outcomes = Given.answers(destination, Given.messages(name, 50));
    assertThat(Given.codes(outcomes)).containsOnly("retryable unroutable");
    assertThat(outcomes.get(0).toString()).contains("312 NO_ROUTE", name, "order.placed");
    broker.channel().queueBind(name, name, "#");
    assertThat(Given.code(Given.answer(destination, Given.message(name)))).isEqualTo("delivered");
    assertThat(broker.take(name)).hasSize(1);
  }

  @Test
  @Tag("HE-3")
  void aReturnConcernsOnlyItsOwnMessage() throws Exception {
    String other = TestBroker.unique("unbound");
    broker.channel().exchangeDeclare(other, "topic", true);
    List<Message> messages =
        List.of(
            Given.message(other), Given.message(name), Given.message(other), Given.message(name));
    assertThat(Given.codes(Given.answers(destination, messages)))
        .containsExactly("retryable unroutable", "delivered", "retryable unroutable", "delivered");
  }

  @Test
  @Tag("HE-3")
  void withoutTheMandatoryFlagNobodyNotices() throws Exception {
    broker.channel().queueUnbind(name, name, "#");
    try (RabbitDestination careless = open(config().mandatory(false))) {
      assertThat(Given.code(Given.answer(careless, Given.message(name)))).isEqualTo("delivered");
    }
    assertThat(broker.take(name)).isEmpty();
  }

  @Test
  @Tag("HE-3")
  @Tag("EN-10")
  void aMissingExchangeIsChargedToItsOwnMessagesOnly() throws Exception {
    String plenty = TestBroker.unique("plenty");
    broker.exchangeAndQueue(plenty, Map.of());
    String missing = TestBroker.unique("missing");
    List<Message> messages = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      messages.addAll(List.of(Given.message(plenty), Given.message(missing)));
    }
    Set<UUID> charged = new HashSet<>();
    untilAnswered(messages, charged);
    assertThat(messages)
        .allMatch(
            message -> charged.contains(message.id()) == message.route().topic().equals(missing));
    assertThat(distinct(broker.take(plenty))).hasSize(30);

    // From now on such messages go by themselves, and no neighbour hears of it.
    List<String> codes = Given.codes(Given.answers(destination, messages));
    assertThat(Set.copyOf(codes)).containsExactlyInAnyOrder("delivered", "retryable no_exchange");
    broker.exchangeAndQueue(missing, Map.of());
    assertThat(Given.codes(Given.answers(destination, messages))).containsOnly("delivered");
    assertThat(distinct(broker.take(missing))).hasSize(30);
  }

  /** A producer may name another one with each message. */
  @Test
  @Tag("HE-3")
  @Tag("EN-17")
  void exchangesThatAreMissingTakeNoNeighboursAlong() throws Exception {
    String plenty = TestBroker.unique("plenty");
    broker.exchangeAndQueue(plenty, Map.of());
    await()
        .until(
            () -> Given.code(Given.answer(destination, Given.message(name))).equals("delivered"));
    Set<String> expected = new HashSet<>();
    for (int batch = 0; batch < 5; batch++) {
      List<Message> messages = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        messages.addAll(Given.messages(plenty, 20));
        messages.add(Given.message(TestBroker.unique("missing")));
      }
      List<Outcome> outcomes = Given.answers(destination, messages);
      for (int i = 0; i < messages.size(); i++) {
        boolean good = messages.get(i).route().topic().equals(plenty);
        assertThat(Given.code(outcomes.get(i)))
            .isEqualTo(good ? "delivered" : "retryable no_exchange");
        if (good) {
          expected.add(messages.get(i).id().toString());
        }
      }
    }
    List<GetResponse> arrived = broker.take(plenty);
    assertThat(distinct(arrived)).isEqualTo(expected);
    assertThat(arrived).as("none arrived twice").hasSize(expected.size());
  }

  /** As a relay does: what was not sent comes again. Collects what was charged an attempt. */
  private void untilAnswered(List<Message> messages, Set<UUID> charged) {
    List<Message> left = new ArrayList<>(messages);
    await()
        .until(
            () -> {
              List<Outcome> outcomes = Given.answers(destination, List.copyOf(left));
              for (int i = outcomes.size() - 1; i >= 0; i--) {
                String code = Given.code(outcomes.get(i));
                if (code.equals("retryable no_exchange")) {
                  charged.add(left.get(i).id());
                }
                // The connection must outlive it: the others would pay for it.
                assertThat(code)
                    .isIn("delivered", "retryable no_exchange", "not sent channel_closed");
                if (!code.startsWith("not sent")) {
                  left.remove(i);
                }
              }
              return left.isEmpty();
            });
  }

  private static Set<String> distinct(List<GetResponse> responses) {
    Set<String> ids = new HashSet<>();
    responses.forEach(response -> ids.add(response.getProps().getMessageId()));
    return ids;
  }

  @Test
  @Tag("HE-3")
  void whatCanNeverBePublishedIsTerminalAndHarmsNobody() throws Exception {
    String plenty = TestBroker.unique("plenty");
    broker.exchangeAndQueue(plenty, Map.of());
    List<Message> messages = new ArrayList<>();
    messages.add(Given.message("x".repeat(256)));
    messages.add(Given.message(plenty, "{}", Map.of("CC", "other")));
    messages.add(Given.message(plenty, "{}", Map.of("h".repeat(256), "v")));
    messages.add(Given.message(plenty, " ".repeat(17 << 20), Map.of()));
    messages.add(Given.message(plenty, "{}", Map.of("big", "v".repeat(200_000))));
    messages.addAll(Given.messages(plenty, 20));
    List<String> codes = Given.codes(Given.answers(destination, messages));
    assertThat(codes.subList(0, 5))
        .containsExactly(
            "terminal name_too_long",
            "terminal bad_header",
            "terminal bad_header",
            "terminal too_large",
            "terminal unencodable");
    // The client has counted one message more than the broker: were the channel used on, each
    // confirm would be taken for the message before, and the last never come.
    assertThat(codes.subList(5, 25)).isSubsetOf("delivered", "not sent channel_closed");
    Set<UUID> delivered = new HashSet<>();
    await()
        .until(
            () -> {
              List<Message> rest = messages.subList(5, 25);
              List<Outcome> again = Given.answers(destination, rest);
              for (int i = 0; i < rest.size(); i++) {
                if (Given.code(again.get(i)).equals("delivered")) {
                  delivered.add(rest.get(i).id());
                }
              }
              return delivered.size() == 20;
            });
    assertThat(distinct(broker.take(plenty))).hasSize(20);
  }

  @Test
  @Tag("HE-2")
  void aMessageWithoutTheFieldsOfItsAddressIsTerminal() throws Exception {
    try (RabbitDestination keyed = open(config().routingKey("{key}"))) {
      Outcome outcome = Given.answer(keyed, Given.message(name));
      assertThat(Given.code(outcome)).isEqualTo("terminal no_address");
      assertThat(outcome.toString()).contains("has no key");
    }
  }

  @Test
  @Tag("HE-3")
  @Tag("EN-10")
  void anEnvelopeThatThrowsFailsItsMessageAlone() throws Exception {
    String plenty = TestBroker.unique("plenty");
    broker.exchangeAndQueue(plenty, Map.of());
    List<Message> messages = Given.messages(plenty, 20);
    UUID bad = messages.get(7).id();
    UUID worse = messages.get(9).id();
    Envelope envelope =
        message -> {
          if (message.id().equals(bad)) {
            throw new IllegalStateException("spoiled");
          }
          if (message.id().equals(worse)) {
            throw new StackOverflowError("spoiled");
          }
          return Envelope.payload().seal(message);
        };
    try (RabbitDestination spoiled = open(config().envelope(envelope))) {
      List<String> codes = Given.codes(Given.answers(spoiled, messages));
      assertThat(codes.get(7)).isEqualTo("retryable envelope_threw");
      assertThat(codes.get(9)).isEqualTo("retryable envelope_threw");
      assertThat(codes.stream().filter("delivered"::equals)).hasSize(18);
    }
    assertThat(broker.take(plenty)).hasSize(18);
  }
}
