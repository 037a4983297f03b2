package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Producers that end: another takes over, and what the old one had is not lost. */
@Tag("OP-6")
@Tag("EN-10")
class LostProducerTest {
  @AutoClose private final Topic topic = Topic.create();

  private static Message message(String key) {
    return Sample.message(key, "{}", Map.of());
  }

  private static void untilDelivered(KafkaDestination destination, List<Message> messages) {
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                Sample.deliver(destination, messages).stream()
                    .allMatch(outcome -> outcome instanceof Outcome.Delivered));
  }

  /** A failed sign-in ends an idempotent producer for good: only a new one asks again. */
  @Test
  void aUserWhoMaySignInLaterIsServedByAnotherProducer() throws Exception {
    String user = "u-" + UUID.randomUUID();
    KafkaConfig config = Broker.configFor(user, "open-sesame").topic(topic.name).build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      LiveProducer first = destination.slot().get();
      List<Message> messages = List.of(message("a"), message("b"), message(null));
      assertThat(Sample.deliver(destination, messages))
          .extracting(Sample::code)
          .containsOnly("unavailable kafka_authentication");
      Broker.createUser(user, "open-sesame");
      Broker.allowToWrite(user, topic.name);
      untilDelivered(destination, messages);
      assertThat(destination.slot().get()).isNotSameAs(first);
    }
    assertThat(topic.arrivals()).hasSize(3);
  }

  @Test
  void whileThereIsNoProducerMessagesAreUnavailableAndNotSent() throws Exception {
    KafkaConfig config = Broker.configFor("nobody", "wrong").topic(topic.name).build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> {
                assertThat(Sample.code(Sample.deliver(destination, message("k"))))
                    .isEqualTo("unavailable kafka_authentication");
                return destination.slot().get() == null;
              });
      long start = System.nanoTime();
      assertThat(Sample.code(Sample.deliver(destination, message("k"))))
          .startsWith("unavailable kafka_");
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }
    assertThat(topic.records()).isEmpty();
  }

  @Test
  void aProducerThatWasClosedIsReplaced() throws Exception {
    try (KafkaDestination destination =
        KafkaDestination.open(Broker.config().topic(topic.name).build())) {
      untilDelivered(destination, List.of(message("k")));
      LiveProducer first = destination.slot().get();
      first.retire(Outcome.unavailable("gone", "")).join();
      List<Message> messages = List.of(message("k"), message("l"));
      assertThat(Sample.deliver(destination, messages))
          .allMatch(outcome -> outcome instanceof Outcome.Unavailable);
      untilDelivered(destination, messages);
      assertThat(destination.slot().get()).isNotSameAs(first);
    }
    assertThat(topic.arrivals()).hasSize(3);
  }

  @Test
  void whatAnEndedProducerHadInFlightIsAnsweredOnceAndNotAsDelivered() throws Exception {
    KafkaConfig config =
        Broker.config().topic(topic.name).deliveryTimeout(Duration.ofMinutes(5)).build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      untilDelivered(destination, List.of(message("first")));
      List<Message> messages = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        messages.add(message("k" + i));
      }
      Map<UUID, List<Outcome>> answers = new ConcurrentHashMap<>();
      // A client that sees the broker gone forgets the topic, and then has nothing in flight.
      Broker.SERVER.freeze();
      try {
        destination.deliver(
            messages,
            (id, outcome) ->
                answers.merge(
                    id,
                    List.of(outcome),
                    (a, b) -> {
                      List<Outcome> both = new ArrayList<>(a);
                      both.addAll(b);
                      return both;
                    }));
        assertThat(answers).isEmpty();
        destination.slot().get().retire(Outcome.unavailable("gone", "")).join();
        assertThat(answers).hasSize(50);
        assertThat(answers.values()).containsOnly(List.of(Outcome.unavailable("gone", "")));
      } finally {
        Broker.SERVER.restart();
      }
      untilDelivered(destination, messages);
    }
    assertThat(topic.arrivals()).extracting("id").doesNotHaveDuplicates().hasSize(51);
  }

  @Test
  void afterCloseNothingIsSent() throws Exception {
    KafkaDestination destination = KafkaDestination.open(Broker.config().topic(topic.name).build());
    destination.close();
    assertThat(Sample.code(Sample.deliver(destination, message("k"))))
        .isEqualTo("unavailable closed");
    assertThat(topic.records()).isEmpty();
  }
}
