package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.deadletter.DeadLetters;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Backoff;
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
import java.sql.SQLException;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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

  /** On average so many messages are stored in one transaction, and such a pause follows. */
  private static final int PACE = 8;

  private static final long PACE_NANOS = 3_000_000;
  private static final String ATTEMPTS = "select count(*) from postrider.attempt";
  private static final Backoff BACKOFF =
      new Backoff(Duration.ofMillis(100), Duration.ofSeconds(1), 0.2);
  private static final Duration PATIENCE = Duration.ofMinutes(4);

  private final TestPostgres database;
  private final Topic topic;
  private final KafkaConfig config;
  private final DeadLetters deadLetters;
  private final DeadPolicy policy;
  private final Set<String> bad = ConcurrentHashMap.newKeySet();
  private final Set<String> died = new HashSet<>();
  private Relay relay;
  private final CompletableFuture<Void> released = new CompletableFuture<>();
  private CompletableFuture<Void> producing = CompletableFuture.completedFuture(null);

  Trial(TestPostgres database, Topic topic, KafkaConfig config, DeadPolicy policy) {
    this.database = database;
    this.topic = topic;
    this.policy = policy;
    this.deadLetters = new DeadLetters(database.dataSource(), Schema.DEFAULT);
    this.config = config;
    this.relay = relay();
  }

  private Relay relay() {
    return Relay.builder(database.dataSource())
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
            RouteOptions.DEFAULT.withRetry(
                RetryPolicy.DEFAULT.withOnDead(policy).withBackoff(BACKOFF)))
        .build();
  }

  /** What the relay works on. */
  TestPostgres database() {
    return database;
  }

  /** Ends the relay in its midst, as for an update, and starts another. */
  void replaceRelay() {
    relay.close();
    relay = relay();
    relay.start();
  }

  /** A message, and whether the broker is to refuse it. */
  private record Load(NewMessage message, boolean spoiled) {}

  /** Messages of keys and without, of which some of those with a key are spoiled at random. */
  private List<Load> loads(
      int keyless, @Nullable UnaryOperator<NewMessage.Builder> spoil, Random random) {
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
    List<Load> loads = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      NewMessage.Builder message = all.get(i).json("{\"n\":" + i + "}");
      boolean spoiled = spoil != null && places.contains(i);
      loads.add(new Load((spoiled ? spoil.apply(message) : message).build(), spoiled));
    }
    return loads;
  }

  /** Stores three quarters in one transaction, and the rest in another when it is released. */
  void enqueue(int keyless, @Nullable UnaryOperator<NewMessage.Builder> spoil, Random random) {
    List<Load> loads = loads(keyless, spoil, random);
    int head = loads.size() * 3 / 4;
    store(loads.subList(0, head));
    producing = released.thenRun(() -> store(loads.subList(head, loads.size())));
  }

  /** Stores a few messages at a time from another thread; the last quarter when it is released. */
  void enqueuePaced(int keyless, @Nullable UnaryOperator<NewMessage.Builder> spoil, Random random) {
    List<Load> loads = loads(keyless, spoil, random);
    Random paces = new Random(random.nextLong());
    producing =
        CompletableFuture.runAsync(
            () -> {
              for (int from = 0; from < loads.size(); ) {
                if (from >= loads.size() * 3 / 4) {
                  released.join();
                }
                int to = Math.min(loads.size(), from + 1 + paces.nextInt(2 * PACE));
                store(loads.subList(from, to));
                from = to;
                LockSupport.parkNanos(PACE_NANOS);
              }
            });
  }

  /** Lets the last messages come, so that some surely come during an attack. */
  void release() {
    released.complete(null);
  }

  /** Stores one long run of the busy key, with one spoiled message. */
  void enqueueRun(int count, int badAt, UnaryOperator<NewMessage.Builder> spoil) {
    store(run(count, badAt, spoil));
  }

  /** The same for another relay than a trial's. */
  static void enqueueRun(
      TestPostgres database, int count, int badAt, UnaryOperator<NewMessage.Builder> spoil) {
    var unused = store(database, run(count, badAt, spoil));
  }

  private static List<Load> run(int count, int badAt, UnaryOperator<NewMessage.Builder> spoil) {
    List<Load> loads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      NewMessage.Builder message = NewMessage.to("shop", "orders").key("busy").json("{}");
      loads.add(new Load((i == badAt ? spoil.apply(message) : message).build(), i == badAt));
    }
    return loads;
  }

  private void store(List<Load> loads) {
    List<Enqueued> stored = store(database, loads);
    for (int i = 0; i < stored.size(); i++) {
      if (loads.get(i).spoiled()) {
        bad.add(stored.get(i).id().toString());
      }
    }
  }

  private static List<Enqueued> store(TestPostgres database, List<Load> loads) {
    try (Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      List<Enqueued> stored =
          new Outbox().enqueue(connection, loads.stream().map(Load::message).toList());
      connection.commit();
      return stored;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
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

  /** Until a message got this answer. */
  void untilAnswered(String code) {
    await()
        .atMost(PATIENCE)
        .until(() -> database.count(ATTEMPTS + " where code = '" + code + "'") > 0);
  }

  /** Resolves what is dead as an operator would, until nothing is left. */
  void finish() throws Exception {
    release();
    producing.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
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
    assertNothingLost(reader);
    firstArrivals(reader)
        .forEach((key, sequences) -> assertThat(sequences).as("key %s", key).isSorted());
  }

  void assertNothingLost(Topic reader) {
    Set<String> arrived = new HashSet<>();
    reader.records().forEach(record -> arrived.add(Topic.headers(record).get("x-event-id")));
    Set<String> expected = new HashSet<>(database.column("select id from postrider.message"));
    expected.removeAll(bad);
    assertThat(died.isEmpty() ? deadNow() : died).isEqualTo(bad);
    assertThat(arrived).isEqualTo(expected);
  }

  private Set<String> deadNow() {
    return new HashSet<>(database.column("select message_id from postrider.dead_letter"));
  }

  /** Nobody may have lost an attempt, except for who got one of these answers. */
  void assertNoAttemptForInnocents(String... blamed) {
    assertThat(
            database.column(
                "select id || ' ' || attempts from postrider.message_state s where attempts > 1"
                    + " and not exists (select from postrider.attempt a where a.message_id = s.id"
                    + " and a.code in ('"
                    + String.join("', '", blamed)
                    + "'))"))
        .isEmpty();
  }

  /** Each key's sequence numbers in the order in which consumers see them first. */
  static Map<String, List<Long>> firstArrivals(Topic reader) {
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
