package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.operations.Pauses;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RouteOptions;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.Arrival;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testrules.NoSecondChance;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A relay that carries whole runs of keys while somebody interferes: operators, administrators of
 * the broker, other relays. Nothing is lost and every key keeps its order.
 */
@Tag("OP-6")
@Tag("PO-6")
@Tag("EN-10")
@Tag("EN-18")
@NoSecondChance
class RunTroubleTest {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String PASSWORD = "open-sesame";

  private static TestPostgres server;
  private static int databases;

  private final Random random = new Random(RunAttackTest.SEED);
  private final TestPostgres database = server.another("trouble_" + ++databases);

  @BeforeAll
  static void startDatabase() {
    server = TestPostgres.start();
  }

  @AfterAll
  static void stopDatabase() {
    server.close();
  }

  /** What happens while a relay is in the middle of its runs. */
  private interface Trouble {
    void hit(Trial trial, Topic topic) throws Exception;
  }

  private void carry(Trouble trouble) throws Exception {
    try (Topic topic = Topic.create(RunAttackTest.Attack.TOO_LARGE_FOR_TOPIC.topic());
        Trial trial = trial(topic, RunAttackTest.config(Broker.SERVER.address(), topic))) {
      trial.enqueue(Trial.KEYLESS, RunAttackTest.Attack.TOO_LARGE_FOR_TOPIC.spoil(), random);
      trial.start();
      trial.untilRecords(1 + random.nextInt(300));
      trouble.hit(trial, topic);
      trial.finish();
      trial.assertNothingLostAndAllInOrder();
      trial.assertNoAttemptForInnocents("kafka_timeout");
    }
  }

  private static KafkaDestination open(Topic topic) {
    return KafkaDestination.open(Broker.config().topic(topic.name).build());
  }

  private static RouteOptions on(DeadPolicy policy) {
    return RouteOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withOnDead(policy));
  }

  private static long distinct(Topic topic) {
    return topic.arrivals().stream().map(Arrival::id).distinct().count();
  }

  private Trial trial(Topic topic, KafkaConfig.Builder config) {
    return new Trial(database, topic, config.topic(topic.name).build(), DeadPolicy.BLOCK);
  }

  @Test
  void thatIsPausedGoesOnWhereItStopped() throws Exception {
    carry(
        (trial, topic) -> {
          Pauses pauses = new Pauses(database.dataSource(), Schema.DEFAULT);
          pauses.pause("test", Pauses.Kind.TOPIC, "shop/orders");
          await()
              .atMost(PATIENCE)
              .until(() -> database.count("select count(*) from postrider.lease") == 0);
          pauses.resume("test", Pauses.Kind.TOPIC, "shop/orders");
        });
  }

  @Test
  void whoseLeaseIsLostIsCarriedAgainInOrder() throws Exception {
    carry(
        (trial, topic) -> {
          database.execute("update postrider.lease set until = now() - interval '1 second'");
          database.count("select postrider.reap()");
        });
  }

  @Test
  void isTakenOverByTheNextRelay() throws Exception {
    carry((trial, topic) -> trial.replaceRelay());
  }

  /** Keys move then: see the page. */
  @Test
  void losesNothingWhenTheTopicGetsMorePartitions() throws Exception {
    try (Topic topic = Topic.create();
        Trial trial = trial(topic, RunAttackTest.config(Broker.SERVER.address(), topic))) {
      trial.enqueue(Trial.KEYLESS, null, random);
      trial.start();
      trial.untilRecords(1 + random.nextInt(100));
      Broker.addPartitions(topic.name, 8);
      trial.finish();
      try (Topic all = Topic.at(Broker.SERVER.address(), topic.name, 8)) {
        trial.assertNothingLost(all);
      }
      trial.assertNoAttemptForInnocents("kafka_timeout");
    }
  }

  /** What the old one had is gone with it, by the administrator's will; the rest goes on. */
  @Test
  void goesOnInATopicThatIsDeletedAndMadeAgain() throws Exception {
    try (Topic topic = Topic.create();
        Trial trial = trial(topic, RunAttackTest.config(Broker.SERVER.address(), topic))) {
      trial.enqueue(Trial.KEYLESS, null, random);
      trial.start();
      trial.untilRecords(1);
      Broker.deleteTopic(topic.name);
      trial.release();
      trial.untilAnswered("kafka_unknown_topic");
      Broker.createTopic(topic.name, Map.of());
      trial.finish();
      try (Topic made = Topic.at(Broker.SERVER.address(), topic.name)) {
        Map<String, List<Long>> sequences = Trial.firstArrivals(made);
        assertThat(sequences).containsKey("busy");
        sequences.forEach(
            (key, numbers) ->
                assertThat(numbers).as("key %s", key).isEqualTo(upTo(last(key), numbers.get(0))));
      }
      trial.assertNoAttemptForInnocents("kafka_timeout", "kafka_unknown_topic");
    }
  }

  private long last(String key) {
    return database.count(
        "select max(sequence) from postrider.message where ordering_key = '" + key + "'");
  }

  private static List<Long> upTo(long last, long first) {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }

  @Test
  void waitsForARightThatWasTakenAway() throws Exception {
    String user = "u-" + UUID.randomUUID();
    Broker.createUser(user, PASSWORD);
    try (Topic topic = Topic.create();
        Trial trial = trial(topic, Broker.configFor(user, PASSWORD))) {
      Broker.allowToWrite(user, topic.name);
      trial.enqueue(Trial.KEYLESS, null, random);
      trial.start();
      trial.untilRecords(1 + random.nextInt(300));
      Broker.forbidToWrite(user, topic.name);
      trial.release();
      trial.untilAnswered("kafka_topic_authorization");
      Broker.allowToWrite(user, topic.name);
      trial.finish();
      trial.assertNothingLostAndAllInOrder();
      trial.assertNoAttemptForInnocents("kafka_timeout", "kafka_topic_authorization");
    }
  }

  /** Only what was in flight when it was refused may come twice. */
  @Test
  void ofManyMessagesGoesOnBehindABadOne() throws Exception {
    try (Topic topic = Topic.create(RunAttackTest.Attack.TOO_LARGE_FOR_TOPIC.topic());
        Trial trial = trial(topic, Broker.config())) {
      trial.enqueueRun(20_000, 10_000, RunAttackTest.Attack.TOO_LARGE_FOR_TOPIC.spoil());
      trial.start();
      trial.finish();
      trial.assertNothingLostAndAllInOrder();
      trial.assertNoAttemptForInnocents();
      assertThat(topic.records()).hasSizeLessThan(20_000 + 1_000);
    }
  }

  /** The same message is too large for two of three topics. */
  @Test
  void ofASubscriptionDoesNotWaitForAnother() throws Exception {
    Map<String, String> small = RunAttackTest.Attack.TOO_LARGE_FOR_TOPIC.topic();
    try (Topic all = Topic.create();
        Topic blocked = Topic.create(small);
        Topic skipped = Topic.create(small);
        Relay relay =
            Relay.builder(database.dataSource())
                .destination("all", open(all))
                .destination("blocked", open(blocked))
                .destination("skipped", open(skipped))
                .route("shop", "*", "all")
                .subscription("shop", "orders", "blocked", "blocked", on(DeadPolicy.BLOCK))
                .subscription("shop", "orders", "skipped", "skipped", on(DeadPolicy.SKIP))
                .build()
                .start()) {
      await()
          .atMost(PATIENCE)
          .until(() -> database.count("select count(*) from postrider.subscription") >= 2);
      Trial.enqueueRun(database, 400, 200, RunAttackTest.Attack.TOO_LARGE_FOR_TOPIC.spoil());
      await().atMost(PATIENCE).until(() -> distinct(all) == 400 && distinct(skipped) == 399);
      await().atMost(PATIENCE).until(() -> distinct(blocked) == 200);
      await().until(() -> relay.status().destinations().get("blocked").inFlight() == 0);
      assertThat(distinct(blocked)).isEqualTo(200);
      for (Topic topic : List.of(all, blocked, skipped)) {
        assertThat(Trial.firstArrivals(topic).get("busy")).isSorted();
      }
    }
  }
}
