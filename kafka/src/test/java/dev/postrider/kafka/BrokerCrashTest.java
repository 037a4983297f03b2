package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testrules.NoSecondChance;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Relays that carry a backlog while the broker is killed and comes back. */
@NoSecondChance
class BrokerCrashTest {
  private static final int KEYS = 400;

  @AutoClose private final TestPostgres database = TestPostgres.start();
  @AutoClose private final Topic topic = Topic.create();

  private Relay relay(String name) {
    KafkaConfig config = Broker.config().topic(topic.name).build();
    return Relay.builder(database.dataSource())
        .config(
            RelayConfig.defaults()
                .withName(name)
                .withBatchSize(100)
                .withPollInterval(Duration.ofMillis(50)))
        .destination(
            "kafka",
            KafkaDestination.open(config),
            DestinationOptions.DEFAULT
                .withMaxInFlight(300)
                .withBreaker(new BreakerOptions(20, Duration.ofMillis(100), Duration.ofSeconds(1))))
        .route("shop", "*", "kafka")
        .build();
  }

  private void enqueue(int rounds) throws Exception {
    try (Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      for (int round = 0; round < rounds; round++) {
        List<NewMessage> messages = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
          messages.add(NewMessage.to("shop", "orders").key("k" + key).json("{}").build());
        }
        new Outbox().enqueue(connection, messages);
        connection.commit();
      }
    }
  }

  private void untilRecords(int count) {
    await()
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> topic.records().size() >= count);
  }

  private void untilNothingIsQueued() {
    await()
        .atMost(Duration.ofMinutes(3))
        .pollInterval(Duration.ofMillis(100))
        .until(() -> database.count("select count(*) from postrider.queue") == 0);
  }

  @Test
  @Tag("OP-6")
  @Tag("EN-7")
  @Tag("EN-10")
  void nothingIsLostAndEveryKeyKeepsItsOrder() throws Exception {
    enqueue(10);
    try (Relay first = relay("first").start();
        Relay second = relay("second").start()) {
      for (int crash = 1; crash <= 2; crash++) {
        untilRecords(crash * KEYS * 2);
        Broker.SERVER.kill();
        assertThat(database.count("select count(*) from postrider.queue"))
            .as("the broker is killed in the middle")
            .isPositive();
        Broker.SERVER.restart();
      }
      untilNothingIsQueued();
      assertThat(first.status().running() && second.status().running()).isTrue();
    }
    assertThat(ids()).containsExactlyInAnyOrderElementsOf(stored());
    assertThat(firstArrivals()).hasSize(KEYS);
    assertThat(firstArrivals().values())
        .allMatch(sequences -> sequences.equals(LongStream.rangeClosed(1, 10).boxed().toList()));
    assertThat(database.count("select count(*) from postrider.dead_letter")).isZero();
  }

  @Test
  @Tag("EN-10")
  void anOutageBurnsNoAttempts() throws Exception {
    Broker.SERVER.kill();
    try (Relay relay = relay("patient").start()) {
      try {
        enqueue(1);
        await()
            .atMost(Duration.ofMinutes(1))
            .until(() -> relay.status().destinations().get("kafka").breaker().equals("open"));
      } finally {
        Broker.SERVER.restart();
      }
      untilNothingIsQueued();
    }
    assertThat(topic.records()).hasSizeGreaterThanOrEqualTo(KEYS);
    assertThat(topic.records())
        .allMatch(record -> "1".equals(Topic.headers(record).get("x-attempts")));
  }

  private List<String> stored() {
    return database.column("select id from postrider.message");
  }

  private Set<String> ids() {
    Set<String> ids = new HashSet<>();
    topic.records().forEach(record -> ids.add(Topic.headers(record).get("x-event-id")));
    return ids;
  }

  /** Each key's sequence numbers in the order in which consumers see them first. */
  private Map<String, List<Long>> firstArrivals() {
    Map<String, List<Long>> sequences = new HashMap<>();
    Set<String> seen = new HashSet<>();
    for (ConsumerRecord<byte[], byte[]> record : topic.records()) {
      Map<String, String> headers = Topic.headers(record);
      if (seen.add(headers.get("x-event-id"))) {
        sequences
            .computeIfAbsent(headers.get("x-key"), key -> new ArrayList<>())
            .add(Long.parseLong(headers.get("x-sequence")));
      }
    }
    return sequences;
  }
}
