package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.GetResponse;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.enqueue.Outbox;
import dev.postrider.envelope.Envelope;
import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.observe.RelayListener;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.relay.RouteOptions;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.RabbitServer;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testrules.NoSecondChance;
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
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A relay with a busy key, quiet keys and messages without a key, while the broker refuses some of
 * them or is away: nothing is lost, every key keeps its order, and no attempt is counted for
 * messages that are not to blame.
 */
@Tag("HE-3")
@Tag("PO-6")
@Tag("EN-10")
@NoSecondChance
class BusyKeyTest {
  private static final int BUSY = 400;
  private static final int QUIET_KEYS = 10;
  private static final int QUIET = 10;
  private static final int KEYLESS = 30;
  private static final int BAD = 4;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static RabbitServer server;
  private static TestPostgres postgres;
  private static int databases;

  @AutoClose private final TestBroker broker = new TestBroker(server);
  private final String name = TestBroker.unique("busy");
  private final TestPostgres database = postgres.another("busy_" + ++databases);
  private final DeadLetters deadLetters = new DeadLetters(database.dataSource(), Schema.DEFAULT);
  private final Set<String> bad = new HashSet<>();
  private final Set<String> died = new HashSet<>();
  private final List<GetResponse> arrived = new ArrayList<>();
  private final List<String> breakerStates = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void start() {
    server = RabbitServer.start(Map.of("max_message_size", "300000"));
    postgres = TestPostgres.start();
  }

  @AfterAll
  static void stop() {
    postgres.close();
    server.close();
  }

  enum Attack {
    RETURNED,
    NACKED,
    REFUSED_BY_CONFIGURATION,
    CHANNEL_CLOSED,
    KILLED,
    FROZEN;

    boolean refuses() {
      return this != KILLED && this != FROZEN;
    }

    NewMessage.Builder spoil(NewMessage.Builder message) {
      return switch (this) {
        case RETURNED -> message.eventType("unbound");
        case NACKED -> message.json(large(250_000));
        case REFUSED_BY_CONFIGURATION -> message.json(large(500_000));
        case CHANNEL_CLOSED -> message.json(large(350_000));
        case KILLED, FROZEN -> message;
      };
    }

    private static String large(int size) {
      return "\"" + "x".repeat(size) + "\"";
    }

    private void hit(BusyKeyTest test, Random random) throws Exception {
      if (this == KILLED) {
        server.kill();
        server.restart();
      } else if (this == FROZEN) {
        server.freeze();
        try {
          test.enqueue(this, random); // the relay may have sent all of the others
          await().atMost(LIMIT).until(() -> test.breakerStates.contains("open"));
        } finally {
          server.thaw();
        }
      }
    }
  }

  static List<Arguments> attacks() {
    List<Arguments> all = new ArrayList<>();
    for (Attack attack : Attack.values()) {
      for (DeadPolicy policy : DeadPolicy.values()) {
        all.add(Arguments.of(attack, policy, System.nanoTime()));
      }
    }
    return all;
  }

  private Relay relay(Attack attack, DeadPolicy policy) {
    RetryPolicy retry = RetryPolicy.DEFAULT.withOnDead(policy);
    return Relay.builder(database.dataSource())
        .config(RelayConfig.defaults().withPollInterval(Duration.ofMillis(50)))
        .destination(
            "rabbit",
            RabbitDestination.open(
                RabbitConfig.to(Broker.uri(server.uri()).heartbeat(Duration.ofMinutes(1)).build())
                    .exchange(name)
                    .routingKey("{topic}.{event_type}")
                    .envelope(Envelope.payload()) // small: all of them fit into the queue
                    .confirmTimeout(Duration.ofSeconds(2))
                    .maxMessageBytes(400_000)
                    .build()),
            DestinationOptions.DEFAULT.withBreaker(
                new BreakerOptions(20, Duration.ofMillis(100), Duration.ofSeconds(1))))
        .route(
            "shop",
            "*",
            "rabbit",
            RouteOptions.DEFAULT.withRetry(attack.refuses() ? retry.withMaxAttempts(1) : retry))
        .listener(
            new RelayListener() {
              @Override
              public void breaker(String destination, String state) {
                breakerStates.add(state);
              }
            })
        .build();
  }

  /** Stores everything in one transaction, and spoils some messages of keys at random places. */
  private void enqueue(Attack attack, Random random) throws Exception {
    List<NewMessage.Builder> all = new ArrayList<>();
    List<Integer> keyed = new ArrayList<>();
    for (int i = 0; i < BUSY; i++) {
      keyed.add(all.size());
      all.add(message().key("busy"));
      if (i < QUIET_KEYS * QUIET) {
        keyed.add(all.size());
        all.add(message().key("quiet-" + i % QUIET_KEYS));
      }
      if (i < KEYLESS) {
        all.add(message());
      }
    }
    Collections.shuffle(keyed, random);
    Set<Integer> places = new HashSet<>(attack.refuses() ? keyed.subList(0, BAD) : List.of());
    List<NewMessage> messages = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      NewMessage.Builder message = all.get(i).json("{\"n\":" + i + "}");
      messages.add((places.contains(i) ? attack.spoil(message) : message).build());
    }
    try (Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      List<Enqueued> stored = new Outbox().enqueue(connection, messages);
      connection.commit();
      places.forEach(place -> bad.add(stored.get(place).id().toString()));
    }
  }

  private static NewMessage.Builder message() {
    return NewMessage.to("shop", "orders").eventType("placed");
  }

  @ParameterizedTest
  @MethodSource("attacks")
  void keepsOrderLosesNothingAndBlamesNobodyElse(Attack attack, DeadPolicy policy, long seed)
      throws Exception {
    Random random = new Random(seed);
    broker.channel().exchangeDeclare(name, "topic", true);
    broker
        .channel()
        .queueDeclare(
            name,
            true,
            false,
            false,
            Map.of("x-max-length-bytes", 200_000, "x-overflow", "reject-publish"));
    broker.channel().queueBind(name, name, "orders.placed");
    server.storeDeclarations();
    enqueue(attack, random);
    try (Relay relay = relay(attack, policy).start()) {
      int some = 1 + random.nextInt(200);
      await()
          .atMost(LIMIT)
          .pollInterval(Duration.ofMillis(2))
          .until(
              () -> {
                resolveDead(policy); // one that is dead early blocks the busy key
                return arrived.size() + broker.ready(name) >= some;
              });
      attack.hit(this, random);
      await()
          .atMost(LIMIT)
          .until(
              () -> {
                resolveDead(policy);
                return database.count("select count(*) from postrider.queue") == 0;
              });
      assertThat(relay.status().running()).isTrue();
    }
    resolveDead(policy);
    assertNothingLostAndAllInOrder();
    assertNoAttemptForInnocents();
  }

  /** As an operator does. */
  private void resolveDead(DeadPolicy policy) throws Exception {
    for (String id :
        database.column("select message_id from postrider.dead_letter where resolved_at is null")) {
      died.add(id);
      if (policy == DeadPolicy.BLOCK) {
        assertNoneBehind(id);
        deadLetters.discard("test", "bad", UUID.fromString(id));
      }
    }
  }

  /** As long as a dead message blocks its key, no queue may have a message behind it. */
  private void assertNoneBehind(String id) throws Exception {
    String where = " from postrider.message where id = '" + id + "'";
    String key = database.column("select ordering_key" + where).get(0);
    long sequence = database.count("select sequence" + where);
    assertThat(firstArrivals().getOrDefault(key, List.of()))
        .as("sequences of %s, blocked at %s", key, sequence)
        .allMatch(number -> number < sequence);
  }

  private void assertNothingLostAndAllInOrder() throws Exception {
    Map<String, List<Long>> sequences = firstArrivals();
    Set<String> ids = new HashSet<>();
    arrived.forEach(response -> ids.add(response.getProps().getMessageId()));
    Set<String> expected = new HashSet<>(database.column("select id from postrider.message"));
    expected.removeAll(bad);
    assertThat(died).isEqualTo(bad);
    assertThat(ids).isEqualTo(expected);
    sequences.forEach((key, numbers) -> assertThat(numbers).as("key %s", key).isSorted());
  }

  /** Only a message whose own confirm was late may have cost an attempt. */
  private void assertNoAttemptForInnocents() {
    assertThat(
            database.column(
                "select id || ' ' || attempts from postrider.message_state s where attempts > 1"
                    + " and not exists (select from postrider.attempt a"
                    + " where a.message_id = s.id and a.code = 'confirm_timeout')"))
        .isEmpty();
  }

  /** Each key's sequence numbers in the order in which a consumer sees them first. */
  private Map<String, List<Long>> firstArrivals() throws Exception {
    arrived.addAll(broker.take(name));
    Map<String, List<Long>> sequences = new HashMap<>();
    Set<String> seen = new HashSet<>();
    for (GetResponse response : arrived) {
      Map<String, String> headers = TestBroker.arrival(response).headers();
      if (headers.containsKey("x-key") && seen.add(response.getProps().getMessageId())) {
        sequences
            .computeIfAbsent(headers.get("x-key"), key -> new ArrayList<>())
            .add(Long.parseLong(headers.get("x-sequence")));
      }
    }
    return sequences;
  }
}
