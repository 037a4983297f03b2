package dev.postrider.kafka;

import dev.postrider.message.NewMessage;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testrules.NoSecondChance;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A relay that carries whole runs of keys while records are refused or the broker is away: nothing
 * is lost, every key keeps its order, and who is not to blame loses no attempt. The property {@code
 * kafka.trials} repeats each of them, with other places for the faults.
 */
@Tag("OP-6")
@Tag("PO-6")
@Tag("EN-10")
@NoSecondChance
class RunAttackTest {
  static final int TRIALS = Integer.getInteger("kafka.trials", 1);
  static final long SEED = Long.getLong("kafka.seed", System.nanoTime());

  private static TestPostgres server;
  private static int databases;

  @BeforeAll
  static void startDatabase() {
    server = TestPostgres.start();
  }

  @AfterAll
  static void stopDatabase() {
    server.close();
  }

  enum Attack {
    TOO_LARGE_FOR_TOPIC,
    MUCH_TOO_LARGE_FOR_TOPIC,
    TOO_LARGE_FOR_CLIENT,
    INVALID,
    FROZEN,
    KILLED;

    /** What makes the broker refuse a message; null if this attack refuses none. */
    @Nullable UnaryOperator<NewMessage.Builder> spoil() {
      return switch (this) {
        case TOO_LARGE_FOR_TOPIC -> message -> message.json(large(20_000));
        case MUCH_TOO_LARGE_FOR_TOPIC -> message -> message.json(large(60_000));
        case TOO_LARGE_FOR_CLIENT -> message -> message.json(large(150_000));
        case INVALID -> message -> message.header(SpoiledRecords.HEADER, "yes");
        case FROZEN, KILLED -> null;
      };
    }

    private static String large(int size) {
      return "\"" + "x".repeat(size) + "\"";
    }

    /** A compacted topic takes no record without a key. */
    Map<String, String> topic() {
      return this == INVALID
          ? Map.of("cleanup.policy", "compact")
          : Map.of("max.message.bytes", "15000");
    }

    void hit(Trial trial) {
      if (this == FROZEN) {
        Broker.SERVER.freeze();
        try {
          trial.release();
          trial.untilAnswered("kafka_timeout");
        } finally {
          Broker.SERVER.thaw();
        }
      } else if (this == KILLED) {
        Broker.SERVER.kill();
        trial.release();
        Broker.SERVER.restart();
      }
    }
  }

  /** How messages come. */
  enum Pace {
    /** All at once, before the relay starts: runs are long. */
    BURST,
    /** A few at a time while it runs: runs are short, and single messages stand between them. */
    PACED
  }

  /** Each attack with each policy in each pace. */
  static List<Arguments> attacks() {
    List<Arguments> all = new ArrayList<>();
    for (int trial = 0; trial < TRIALS; trial++) {
      for (Attack attack : Attack.values()) {
        for (Pace pace : Pace.values()) {
          for (DeadPolicy policy : DeadPolicy.values()) {
            all.add(Arguments.of(attack, pace, policy, SEED + trial));
          }
        }
      }
    }
    return all;
  }

  static KafkaConfig.Builder config(String address, Topic topic) {
    return KafkaConfig.builder(address)
        .topic(topic.name)
        .deliveryTimeout(Duration.ofSeconds(2))
        .property("max.request.size", "100000")
        .property("batch.size", "4096") // so that a run takes many requests
        .property("interceptor.classes", SpoiledRecords.class.getName());
  }

  private static TestPostgres database() {
    return server.another("trial_" + ++databases);
  }

  @ParameterizedTest
  @MethodSource("attacks")
  void keepsOrderLosesNothingAndBlamesNobodyElse(
      Attack attack, Pace pace, DeadPolicy policy, long seed) throws Exception {
    Random random = new Random(seed);
    try (Topic topic = Topic.create(attack.topic());
        Trial trial =
            new Trial(database(), topic, config(Broker.SERVER.address(), topic).build(), policy)) {
      int keyless = attack == Attack.INVALID ? 0 : Trial.KEYLESS;
      if (pace == Pace.BURST) {
        trial.enqueue(keyless, attack.spoil(), random);
        trial.start();
      } else {
        trial.start();
        trial.enqueuePaced(keyless, attack.spoil(), random);
      }
      trial.untilRecords(1 + random.nextInt(300));
      attack.hit(trial);
      trial.finish();
      trial.assertNothingLostAndAllInOrder();
      trial.assertNoAttemptForInnocents();
    }
  }
}
