package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.observe.RelayListener;
import dev.postrider.relay.Relay;
import dev.postrider.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A relay with messages for topics that do not exist. */
class MissingTopicTest {
  private static final DestinationOptions OPTIONS =
      DestinationOptions.DEFAULT.withBreaker(
          new BreakerOptions(20, Duration.ofMillis(200), Duration.ofSeconds(1)));

  @AutoClose private final TestPostgres database = TestPostgres.start();
  private final List<String> breakers = new CopyOnWriteArrayList<>();
  private final List<String> targets = new CopyOnWriteArrayList<>();

  private Relay relay() {
    return Relay.builder(database.dataSource())
        .destination(
            "kafka", KafkaDestination.open(Broker.config().topic("{topic}").build()), OPTIONS)
        .route("shop", "*", "kafka")
        .listener(
            new RelayListener() {
              @Override
              public void breaker(String destination, String state) {
                breakers.add(state);
              }

              @Override
              public void targetBreaker(String destination, String target, String state) {
                targets.add(target + " " + state);
              }
            })
        .build();
  }

  private void enqueue(String topic, int count) throws Exception {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "select postrider.enqueue('shop', %s, '{}') from generate_series(1, %d) n"
              .formatted(topic, count));
    }
  }

  private long undelivered() {
    return database.count("select count(*) from postrider.queue");
  }

  @Test
  @Tag("EN-17")
  void holdsUpNoOtherTopicAndLosesNothing() throws Exception {
    String missing = "t-" + UUID.randomUUID();
    try (Topic topic = Topic.create()) {
      enqueue("'" + missing + "'", 3000);
      enqueue("'" + topic.name + "'", 50);
      try (Relay relay = relay().start()) {
        await().atMost(Duration.ofSeconds(20)).until(() -> topic.records().size() == 50);
        await().until(() -> targets.equals(List.of(missing + " open")));
        enqueue("'" + topic.name + "'", 50);
        await().atMost(Duration.ofSeconds(5)).until(() -> topic.records().size() == 100);
        try (Topic late = Topic.create(missing, Map.of())) {
          await().atMost(Duration.ofMinutes(2)).until(() -> undelivered() == 0);
          assertThat(late.records()).hasSizeGreaterThanOrEqualTo(3000);
        }
        assertThat(relay.status().destinations().get("kafka").openTargets()).isZero();
      }
      assertThat(breakers).isEmpty();
      assertThat(database.count("select count(*) from postrider.dead_letter")).isZero();
    }
  }

  @Test
  @Tag("EN-17")
  void manyOfThemHoldUpNoTopicThatExists() throws Exception {
    try (Topic known = Topic.create();
        Topic unknown = Topic.create()) {
      enqueue("'" + known.name + "'", 1);
      try (Relay relay = relay().start()) {
        await().atMost(Duration.ofSeconds(20)).until(() -> known.records().size() == 1);
        enqueue("'missing-' || n", 500);
        await().until(() -> database.count("select count(*) from postrider.attempt") > 50);
        enqueue("'" + known.name + "'", 50);
        enqueue("'" + unknown.name + "'", 50);
        await().atMost(Duration.ofSeconds(5)).until(() -> known.records().size() == 51);
        await().atMost(Duration.ofSeconds(30)).until(() -> unknown.records().size() == 50);
        assertThat(relay.status().running()).isTrue();
      }
      assertThat(breakers).isEmpty();
    }
  }
}
