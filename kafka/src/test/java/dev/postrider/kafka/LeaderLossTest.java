package dev.postrider.kafka;

import static org.awaitility.Awaitility.await;

import dev.postrider.kafka.server.KafkaCluster;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testrules.NoSecondChance;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A relay that carries whole runs of keys to a cluster of three, whose leader goes away in the
 * middle of a run. Some messages are refused as well. The property {@code kafka.trials} repeats
 * each loss, at other places.
 */
@Tag("OP-6")
@Tag("PO-6")
@Tag("EN-10")
@NoSecondChance
class LeaderLossTest {
  private static TestPostgres server;
  private static KafkaCluster cluster;
  private static Admin admin;
  private static int databases;

  @BeforeAll
  static void start() {
    server = TestPostgres.start();
    cluster = KafkaCluster.start(3);
    admin =
        Admin.create(Map.of("bootstrap.servers", cluster.address(), "request.timeout.ms", "5000"));
  }

  @AfterAll
  static void stop() {
    admin.close();
    cluster.close();
    server.close();
  }

  enum Loss {
    /** As a crash. */
    KILLED,
    /** As a partitioned network: it comes back later, and believes that it is the leader. */
    FROZEN,
    /** As an administrator moves it: the old leader refuses what is sent to it. */
    MOVED;

    void hit(String topic, int leader) throws Exception {
      switch (this) {
        case KILLED -> cluster.broker(leader).kill();
        case FROZEN -> cluster.broker(leader).freeze();
        case MOVED -> move(topic, leader);
      }
    }

    void repair(int leader) {
      switch (this) {
        case KILLED -> cluster.broker(leader).restart();
        case FROZEN -> cluster.broker(leader).thaw();
        case MOVED -> {}
      }
    }
  }

  static List<Arguments> losses() {
    List<Arguments> all = new ArrayList<>();
    for (int trial = 0; trial < RunAttackTest.TRIALS; trial++) {
      for (Loss loss : Loss.values()) {
        for (DeadPolicy policy : DeadPolicy.values()) {
          all.add(Arguments.of(loss, policy, RunAttackTest.SEED + trial));
        }
      }
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("losses")
  void keepsOrderLosesNothingAndBlamesNobodyElse(Loss loss, DeadPolicy policy, long seed)
      throws Exception {
    Random random = new Random(seed);
    try (Topic topic = Topic.at(cluster.address(), createTopic());
        Trial trial =
            new Trial(
                server.another("trial_" + ++databases),
                topic,
                RunAttackTest.config(cluster.address(), topic)
                    .deliveryTimeout(Duration.ofSeconds(10))
                    .build(),
                policy)) {
      trial.enqueue(Trial.KEYLESS, RunAttackTest.Attack.TOO_LARGE_FOR_TOPIC.spoil(), random);
      int leader = partitions(topic.name).get(Trial.BUSY_PARTITION).leader().id();
      trial.start();
      trial.untilRecords(1 + random.nextInt(300));
      loss.hit(topic.name, leader);
      try {
        trial.finish();
        untilAnotherLeads(topic.name, leader, false);
        assertNothingLostAndAllInOrder(trial, topic.name); // by what the others have
      } finally {
        loss.repair(leader);
      }
      untilAnotherLeads(topic.name, leader, true);
      assertNothingLostAndAllInOrder(trial, topic.name);
      trial.assertNoAttemptForInnocents();
    }
  }

  /** With a new reader, which has not heard of the old leader. */
  private static void assertNothingLostAndAllInOrder(Trial trial, String topic) {
    try (Topic fresh = Topic.at(cluster.address(), topic)) {
      trial.assertNothingLostAndAllInOrder(fresh);
    }
  }

  /** A broker that was away must be back first. */
  private static String createTopic() {
    String name = "t-" + UUID.randomUUID();
    NewTopic topic =
        new NewTopic(name, 4, (short) 3)
            .configs(Map.of("min.insync.replicas", "2", "max.message.bytes", "15000"));
    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreExceptions()
        .until(
            () -> {
              admin.createTopics(List.of(topic)).all().get(30, TimeUnit.SECONDS);
              return true;
            });
    return name;
  }

  private static List<TopicPartitionInfo> partitions(String topic) throws Exception {
    return admin
        .describeTopics(List.of(topic))
        .allTopicNames()
        .get(30, TimeUnit.SECONDS)
        .get(topic)
        .partitions();
  }

  /**
   * Until another broker leads the partition of the busy key.
   *
   * @param whole also until every replica is in sync. Before that a thawed broker may believe that
   *     it leads, and tell readers an end that is long past. When it is in sync it knows better: it
   *     has to follow the new leader for that.
   */
  private static void untilAnotherLeads(String topic, int lost, boolean whole) {
    await()
        .atMost(Duration.ofMinutes(2))
        .ignoreExceptions()
        .until(
            () -> {
              List<TopicPartitionInfo> all = partitions(topic);
              return all.get(Trial.BUSY_PARTITION).leader().id() != lost
                  && (!whole || all.stream().allMatch(partition -> partition.isr().size() == 3));
            });
  }

  private static void move(String topic, int leader) throws Exception {
    TopicPartition partition = new TopicPartition(topic, Trial.BUSY_PARTITION);
    List<Integer> others = List.of(leader % 3 + 1, (leader + 1) % 3 + 1, leader);
    admin
        .alterPartitionReassignments(
            Map.of(partition, Optional.of(new NewPartitionReassignment(others))))
        .all()
        .get(30, TimeUnit.SECONDS);
    admin
        .electLeaders(ElectionType.PREFERRED, Set.of(partition))
        .partitions()
        .get(30, TimeUnit.SECONDS);
  }
}
