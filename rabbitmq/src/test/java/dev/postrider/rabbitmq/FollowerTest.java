package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import dev.postrider.destination.Destination.Answers;
import dev.postrider.envelope.Envelope;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.testrules.NoSecondChance;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A key's next message is published by the thread that brings the confirm of the one before. */
@Tag("HE-3")
@Tag("PO-6")
@NoSecondChance
class FollowerTest {
  private static final String LARGE = "\"" + "x".repeat(2_000) + "\"";

  @AutoClose private final TestBroker broker = TestBroker.shared();
  private final String name = TestBroker.unique("followers");

  @BeforeEach
  void declare() throws Exception {
    broker.exchangeAndQueue(
        name, Map.of("x-max-length-bytes", 1_000, "x-overflow", "reject-publish"));
  }

  /** Returns when it is connected. */
  private RabbitDestination open(boolean pipelining) throws Exception {
    RabbitDestination destination =
        RabbitDestination.open(
            RabbitConfig.to(broker.broker())
                .exchange(name)
                .routingKey("{topic}")
                .envelope(Envelope.payload())
                .maxMessageBytes(10_000)
                .pipelining(pipelining)
                .build());
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> Given.code(Given.answer(destination, Given.message("hi"))).equals("delivered"));
    broker.take(name);
    return destination;
  }

  private static Message message(long sequence, String payload) {
    return Given.keyed("orders", "k", sequence, payload);
  }

  /** Gives the next message of a key with the answer for the one before, as the relay does. */
  private static final class Relay implements Answers {
    final Deque<Message> left = new ConcurrentLinkedDeque<>();
    final List<String> codes = new CopyOnWriteArrayList<>();
    final List<String> threads = new CopyOnWriteArrayList<>();

    @Override
    public void answer(UUID messageId, Outcome outcome) {
      codes.add(Given.code(outcome));
    }

    @Override
    public @Nullable Message deliveredNext(UUID messageId) {
      threads.add(Thread.currentThread().getName());
      codes.add("delivered");
      return left.poll();
    }
  }

  private List<Long> arrived() throws Exception {
    List<Long> sequences = new ArrayList<>();
    broker
        .take(name)
        .forEach(
            response ->
                sequences.add(
                    Long.parseLong(TestBroker.arrival(response).headers().get("x-sequence"))));
    return sequences;
  }

  @Test
  void aRunIsPublishedOneByOneWithoutTheRelaysThread() throws Exception {
    Relay relay = new Relay();
    for (long sequence = 2; sequence <= 20; sequence++) {
      relay.left.add(message(sequence, "{}"));
    }
    try (RabbitDestination destination = open(false)) {
      destination.deliver(List.of(message(1, "{}")), relay);
      await().untilAsserted(() -> assertThat(relay.codes).hasSize(20));
    }
    assertThat(relay.codes).containsOnly("delivered");
    assertThat(relay.threads).allMatch(thread -> thread.startsWith("postrider-rabbitmq-io"));
    assertThat(arrived()).isSorted().hasSize(20);
  }

  @Test
  void nothingIsPublishedBehindAMessageThatTheBrokerNacks() throws Exception {
    Relay relay = new Relay();
    relay.left.addAll(List.of(message(2, LARGE), message(3, "{}")));
    try (RabbitDestination destination = open(false)) {
      destination.deliver(List.of(message(1, "{}")), relay);
      await().until(() -> relay.codes.size() == 2);
    }
    assertThat(relay.codes).containsExactly("delivered", "retryable nack");
    assertThat(relay.left).as("not taken").hasSize(1);
    assertThat(arrived()).containsExactly(1L);
  }

  @Test
  void aMessageThatCannotBePublishedIsAnsweredAndTheChannelGoesOn() throws Exception {
    Relay relay = new Relay();
    relay.left.add(message(2, "\"" + "x".repeat(20_000) + "\""));
    try (RabbitDestination destination = open(false)) {
      destination.deliver(List.of(message(1, "{}")), relay);
      await().until(() -> relay.codes.size() == 2);
      assertThat(relay.codes).containsExactly("delivered", "terminal too_large");
      destination.deliver(List.of(message(3, "{}")), relay);
      await().until(() -> relay.codes.size() == 3);
    }
    assertThat(arrived()).containsExactly(1L, 3L);
  }

  /**
   * Why a key waits for each confirm: the broker handles what is published behind a message that it
   * refuses, and the publisher hears of it too late. With {@code pipelining} users accept this.
   */
  @Test
  void theBrokerRoutesWhatWasPublishedBehindARefusedMessage() throws Exception {
    try (RabbitDestination destination = open(true)) {
      List<Message> run = List.of(message(1, "{}"), message(2, LARGE), message(3, "{}"));
      assertThat(Given.codes(Given.answers(destination, run)))
          .containsExactly("delivered", "retryable nack", "delivered");
    }
    assertThat(arrived()).containsExactly(1L, 3L);
  }

  /** A transaction does not help: the broker commits the rest of it. */
  @Test
  void theBrokerCommitsATransactionInPart() throws Exception {
    Channel channel = broker.channel();
    channel.txSelect();
    for (String body : List.of("1", LARGE, "3")) {
      channel.basicPublish(name, "orders", true, null, body.getBytes(StandardCharsets.UTF_8));
    }
    assertThatThrownBy(channel::txCommit).rootCause().hasMessageContaining("partial tx completion");
    assertThat(broker.take(name))
        .extracting(response -> new String(response.getBody(), StandardCharsets.UTF_8))
        .containsExactly("1", "3");
  }
}
