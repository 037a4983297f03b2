package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.deadletter.DeadLetters;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.relay.RouteOptions;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.jspecify.annotations.Nullable;

/**
 * A relay that carries a busy key, quiet keys and messages without a key, some of which the broker
 * refuses, and what must hold when it is done. Used by one thread.
 */
final class Trial implements AutoCloseable {
  /** Of four, where the busy key goes. */
  static final int BUSY_PARTITION =
      BuiltInPartitioner.partitionForKey("busy".getBytes(StandardCharsets.UTF_8), 4);

  private static final int BUSY = 600;
  private static final int QUIET_KEYS = 20;
  private static final int QUIET = 10;
  static final int KEYLESS = 50;
  private static final int BAD = 4;
  private static final String ATTEMPTS = "select count(*) from postrider.attempt";
  private static final Duration PATIENCE = Duration.ofMinutes(4);

  private final TestPostgres database;
  private final Topic topic;
  private final Relay relay;
  private final DeadLetters deadLetters;
  private final DeadPolicy policy;
  private final Set<String> bad = new HashSet<>();
  private final Set<String> died = new HashSet<>();

  Trial(TestPostgres database, Topic topic, KafkaConfig config, DeadPolicy policy) {
    this.database = database;
    this.topic = topic;
    this.policy = policy;
    this.deadLetters = new DeadLetters(database.dataSource(), Schema.DEFAULT);
    this.relay =
        Relay.builder(database.dataSource())
            .config(RelayConfig.defaults().withPollInterval(Duration.ofMillis(50)))
            .destination(
                "kafka",
                KafkaDestination.open(config),
                DestinationOptions.DEFAULT.withBreaker(
                    new BreakerOptions(20, Duration.ofMillis(100), Duration.ofSeconds(1))))
            .route(
                "shop",
                "*",
                "kafka",
                RouteOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withOnDead(policy)))
            .build();
  }

  /** Stores everything in one transaction, and spoils some messages of keys at random places. */
  void enqueue(int keyless, @Nullable UnaryOperator<NewMessage.Builder> spoil, Random random)
      throws Exception {
    List<NewMessage.Builder> all = new ArrayList<>();
    List<Integer> keyed = new ArrayList<>();
    for (int i = 0; i < BUSY; i++) {
      keyed.add(all.size());
      all.add(NewMessage.to("shop", "orders").key("busy"));
      if (i < QUIET_KEYS * QUIET) {
        keyed.add(all.size());
        all.add(NewMessage.to("shop", "orders").key("quiet-" + i % QUIET_KEYS));
      }
      if (i < keyless) {
        all.add(NewMessage.to("shop", "orders"));
      }
    }
    Collections.shuffle(keyed, random);
    Set<Integer> places = new HashSet<>(spoil == null ? List.of() : keyed.subList(0, BAD));
    List<NewMessage> messages = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      NewMessage.Builder message = all.get(i).json("{\"n\":" + i + "}");
      messages.add((spoil != null && places.contains(i) ? spoil.apply(message) : message).build());
    }
    try (Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      List<Enqueued> stored = new Outbox().enqueue(connection, messages);
      connection.commit();
      places.forEach(place -> bad.add(stored.get(place).id().toString()));
    }
  }

  void start() {
    relay.start();
  }

  /** Resolves what is dead meanwhile: it may block the busy key. */
  void untilRecords(int count) {
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(2))
        .until(
            () -> {
              resolveDead();
              return topic.records().size() >= count;
            });
  }

  /** Until a record was given up because no answer came. */
  void untilTimeout() {
    await()
        .atMost(PATIENCE)
        .until(() -> database.count(ATTEMPTS + " where code = 'kafka_timeout'") > 0);
  }

  /** Resolves what is dead as an operator would, until nothing is left. */
  void finish() throws Exception {
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              resolveDead();
              return database.count("select count(*) from postrider.queue") == 0;
            });
    resolveDead();
  }

  private void resolveDead() throws Exception {
    List<String> dead =
        database.column("select message_id from postrider.dead_letter where resolved_at is null");
    for (String id : dead) {
      died.add(id);
      if (policy == DeadPolicy.BLOCK) {
        assertNoneBehind(id);
        deadLetters.discard("test", "bad", UUID.fromString(id));
      }
    }
  }

  /** As long as a dead message blocks its key, nothing behind it may have been written. */
  private void assertNoneBehind(String id) {
    String where = " from postrider.message where id = '" + id + "'";
    String key = database.column("select ordering_key" + where).get(0);
    long sequence = database.count("select sequence" + where);
    assertThat(firstArrivals(topic).getOrDefault(key, List.of()))
        .as("sequences of %s, blocked at %s", key, sequence)
        .allMatch(arrived -> arrived < sequence);
  }

  void assertNothingLostAndAllInOrder() {
    assertNothingLostAndAllInOrder(topic);
  }

  /** By what this reader finds in the trial's topic. */
  void assertNothingLostAndAllInOrder(Topic reader) {
    Set<String> arrived = new HashSet<>();
    reader.records().forEach(record -> arrived.add(Topic.headers(record).get("x-event-id")));
    Set<String> expected = new HashSet<>(database.column("select id from postrider.message"));
    expected.removeAll(bad);
    assertThat(died.isEmpty() ? deadNow() : died).isEqualTo(bad);
    assertThat(arrived).isEqualTo(expected);
    firstArrivals(reader)
        .forEach((key, sequences) -> assertThat(sequences).as("key %s", key).isSorted());
  }

  private Set<String> deadNow() {
    return new HashSet<>(database.column("select message_id from postrider.dead_letter"));
  }

  /** Only a record that timed out itself, while others arrived, may have cost an attempt. */
  void assertNoAttemptForInnocents() {
    assertThat(
            database.column(
                "select id || ' ' || attempts from postrider.message_state s where attempts > 1"
                    + " and not exists (select from postrider.attempt a"
                    + " where a.message_id = s.id and a.code = 'kafka_timeout')"))
        .isEmpty();
  }

  /** Each key's sequence numbers in the order in which consumers see them first. */
  private static Map<String, List<Long>> firstArrivals(Topic reader) {
    Map<String, List<Long>> sequences = new HashMap<>();
    Set<String> seen = new HashSet<>();
    for (ConsumerRecord<byte[], byte[]> record : reader.records()) {
      Map<String, String> headers = Topic.headers(record);
      if (headers.containsKey("x-key") && seen.add(headers.get("x-event-id"))) {
        sequences
            .computeIfAbsent(headers.get("x-key"), key -> new ArrayList<>())
            .add(Long.parseLong(headers.get("x-sequence")));
      }
    }
    return sequences;
  }

  @Override
  public void close() {
    relay.close();
  }
}
