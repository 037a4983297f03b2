package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.envelope.Envelope;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the broker does not take: each a named outcome, and nobody else's trouble. */
@Tag("OP-6")
@Tag("EN-10")
class RefusedRecordsTest {
  private static final byte[] BODY = {'{', '}'};

  private static Message to(String topic) {
    return Sample.message(new Route("refused", topic), null, BODY, Map.of());
  }

  /** Topics named by the message alone. */
  private static KafkaConfig.Builder byTopic() {
    return Broker.config().topic("{topic}");
  }

  private static String unique() {
    return "t-" + UUID.randomUUID();
  }

  @Test
  void aRecordThatTheTopicFindsTooLargeIsDeadAndTheOthersArrive() throws Exception {
    try (Topic topic = Topic.create(Map.of("max.message.bytes", "10000"));
        KafkaDestination destination = KafkaDestination.open(byTopic().build())) {
      Route route = new Route("refused", topic.name);
      Message large = Sample.message(route, "k", new byte[20_000], Map.of());
      List<Outcome> outcomes =
          Sample.deliver(destination, List.of(to(topic.name), large, to(topic.name)));
      assertThat(outcomes)
          .extracting(Sample::code)
          .containsExactly("delivered", "terminal kafka_too_large", "delivered");
      assertThat(topic.records()).hasSize(2);
    }
  }

  @Test
  void aRecordThatTheClientFindsTooLargeIsDead() throws Exception {
    try (Topic topic = Topic.create();
        KafkaDestination destination = KafkaDestination.open(byTopic().build())) {
      Route route = new Route("refused", topic.name);
      Message large = Sample.message(route, null, new byte[3 << 20], Map.of());
      assertThat(Sample.code(Sample.deliver(destination, large)))
          .isEqualTo("terminal kafka_too_large");
    }
  }

  @Test
  void aNameThatNoTopicCanHaveIsDead() throws Exception {
    try (KafkaDestination destination = KafkaDestination.open(byTopic().build())) {
      assertThat(Sample.code(Sample.deliver(destination, to("no such name!"))))
          .isEqualTo("terminal kafka_invalid_topic");
    }
  }

  @Test
  void aMessageWithoutTheFieldThatNamesTheTopicIsDead() throws Exception {
    KafkaConfig config = Broker.config().topic("orders-{key}").build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      Outcome outcome = Sample.deliver(destination, to("any"));
      assertThat(Sample.code(outcome)).isEqualTo("terminal kafka_not_addressed");
      assertThat(((Outcome.Terminal) outcome).error()).contains("has no key");
    }
  }

  @Test
  void aMessageThatTheEnvelopeFailsOnFailsAlone() throws Exception {
    try (Topic topic = Topic.create()) {
      Message bad = to(topic.name);
      KafkaConfig config =
          byTopic()
              .envelope(
                  message -> {
                    if (message.id().equals(bad.id())) {
                      throw new IllegalArgumentException("bad");
                    }
                    return Envelope.payload().seal(message);
                  })
              .build();
      try (KafkaDestination destination = KafkaDestination.open(config)) {
        assertThat(Sample.deliver(destination, List.of(bad, to(topic.name))))
            .extracting(Sample::code)
            .containsExactly("retryable kafka_envelope_threw", "delivered");
      }
    }
  }

  @Test
  void aTopicThatDoesNotExistIsRetriedUntilItDoes() throws Exception {
    String name = unique();
    try (KafkaDestination destination = KafkaDestination.open(byTopic().build())) {
      Outcome outcome = Sample.deliver(destination, to(name));
      assertThat(Sample.code(outcome)).isEqualTo("retryable kafka_unknown_topic");
      assertThat(((Outcome.Retryable) outcome).error()).contains(name);
      try (Topic topic = Topic.create(name, Map.of())) {
        Message message = to(name);
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> Sample.code(Sample.deliver(destination, message)).equals("delivered"));
        assertThat(topic.arrivals()).extracting("id").containsOnly(message.id());
      }
    }
  }

  /** Each of them would block the client: together they must not, nor hold up the others. */
  @Test
  void manyMessagesToATopicThatDoesNotExistDoNotHoldUpTheOthers() throws Exception {
    String missing = unique();
    try (Topic topic = Topic.create();
        KafkaDestination destination = KafkaDestination.open(byTopic().build())) {
      assertThat(Sample.code(Sample.deliver(destination, to(topic.name)))).isEqualTo("delivered");
      List<Message> batch = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        batch.add(to(missing));
        batch.add(to(topic.name));
      }
      long start = System.nanoTime();
      List<String> codes = Sample.deliver(destination, batch).stream().map(Sample::code).toList();
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
      assertThat(codes).filteredOn("delivered"::equals).hasSize(200);
      assertThat(codes).filteredOn("retryable kafka_unknown_topic"::equals).hasSize(200);
    }
  }

  @Test
  void manyTopicsThatDoNotExistDoNotBlockForLong() throws Exception {
    try (KafkaDestination destination = KafkaDestination.open(byTopic().build())) {
      List<Message> batch = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        batch.add(to(unique()));
      }
      long start = System.nanoTime();
      List<String> codes = Sample.deliver(destination, batch).stream().map(Sample::code).toList();
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
      assertThat(codes).contains("retryable kafka_unknown_topic", "not sent kafka_topics_busy");
      assertThat(codes).doesNotContain("delivered");
    }
  }

  /** A compacted topic takes no record without a key; the broker then refuses its whole batch. */
  @Test
  void aRecordThatTheTopicFindsInvalidIsDeadAndTheOthersArriveLater() throws Exception {
    KafkaConfig config =
        byTopic().property("linger.ms", "2000").build(); // so that they are batched
    try (Topic topic = Topic.create(Map.of("cleanup.policy", "compact"));
        KafkaDestination destination = KafkaDestination.open(config)) {
      assertThat(Sample.code(Sample.deliver(destination, to(topic.name))))
          .isEqualTo("terminal kafka_invalid_record");
      Route route = new Route("refused", topic.name);
      List<Message> left = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        left.add(Sample.message(route, "k" + i, BODY, Map.of()));
      }
      List<Message> mixed = new ArrayList<>(left);
      mixed.add(10, to(topic.name));
      List<String> codes = new ArrayList<>();
      Sample.deliver(destination, mixed).forEach(outcome -> codes.add(Sample.code(outcome)));
      assertThat(codes.remove(10)).isEqualTo("terminal kafka_invalid_record");
      assertThat(codes)
          .as("of the same batch: no attempt is counted")
          .contains("not sent kafka_aborted")
          .containsOnly("delivered", "not sent kafka_aborted");
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  Sample.deliver(destination, left).stream()
                      .allMatch(outcome -> outcome instanceof Outcome.Delivered));
      assertThat(topic.records()).extracting(ConsumerRecord::key).doesNotContainNull();
    }
  }

  /** One topic that the user may write to, and one that it may not. */
  private static void withUser(KafkaConfig.Builder config, String user, UserTest test)
      throws Exception {
    Broker.createUser(user, "open-sesame");
    try (Topic granted = Topic.create();
        Topic topic = Topic.create();
        KafkaDestination destination = KafkaDestination.open(config.topic("{topic}").build())) {
      Broker.allowToWrite(user, granted.name);
      untilDelivered(destination, granted.name);
      test.run(destination, topic.name);
      Broker.allowToWrite(user, topic.name);
      untilDelivered(destination, topic.name);
    }
  }

  private interface UserTest {
    void run(KafkaDestination destination, String forbidden) throws Exception;
  }

  private static void untilDelivered(KafkaDestination destination, String topic) {
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> Sample.code(Sample.deliver(destination, to(topic))).equals("delivered"));
  }

  @Test
  void aTopicThatMayNotBeWrittenIsRetriedUntilItMay() throws Exception {
    String user = unique();
    withUser(
        Broker.configFor(user, "open-sesame"),
        user,
        (destination, forbidden) ->
            assertThat(Sample.code(Sample.deliver(destination, to(forbidden))))
                .isEqualTo("retryable kafka_topic_authorization"));
  }

  @Test
  void aTopicThatMayNotBeWrittenIsTheEndOfItsMessagesIfOneSaysSo() throws Exception {
    String user = unique();
    withUser(
        Broker.configFor(user, "open-sesame").deadAtOnce("kafka_topic_authorization"),
        user,
        (destination, forbidden) -> {
          Outcome outcome = Sample.deliver(destination, to(forbidden));
          assertThat(Sample.code(outcome)).isEqualTo("terminal kafka_topic_authorization");
          assertThat(((Outcome.Terminal) outcome).error()).contains(forbidden);
        });
  }
}
