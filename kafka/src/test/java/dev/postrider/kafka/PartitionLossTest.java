package dev.postrider.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.kafka.server.KafkaCluster;
import dev.postrider.message.Message;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.TopicPartitionInfo;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A partition without a leader, while the other partitions of its topic take records. */
@Tag("OP-6")
@Tag("EN-10")
@Tag("EN-18")
class PartitionLossTest {
  private static final String AWAY = "not sent kafka_partition_away";

  private static void createTopic(KafkaCluster cluster, String name) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", cluster.address()))) {
      admin.createTopics(List.of(new NewTopic(name, 3, (short) 1))).all().get(60, TimeUnit.SECONDS);
    }
    Topic.at(cluster.address(), name, 3).close();
  }

  private static int leader(KafkaCluster cluster, String topic, int partition) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", cluster.address()))) {
      List<TopicPartitionInfo> partitions =
          admin
              .describeTopics(List.of(topic))
              .allTopicNames()
              .get(60, TimeUnit.SECONDS)
              .get(topic)
              .partitions();
      return partitions.get(partition).leader().id();
    }
  }

  private static Message to(int partition) {
    for (int i = 0; ; i++) {
      String key = "k" + i;
      if (BuiltInPartitioner.partitionForKey(key.getBytes(UTF_8), 3) == partition) {
        return Sample.message(key, "{}", Map.of());
      }
    }
  }

  private static List<String> deliver(KafkaDestination destination, Message... batch)
      throws Exception {
    return Sample.deliver(destination, List.of(batch)).stream().map(Sample::code).toList();
  }

  /** The message that finds out whether the partition is back takes no other with it. */
  private static void assertRunsStopNoProducer(KafkaDestination destination) {
    OrderingKey key = OrderingKey.of(to(0));
    await().until(() -> destination.producerOfRuns(key) != null);
    LiveProducer ofRuns = destination.producerOfRuns(key);
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> {
              long start = System.nanoTime();
              List<String> run = deliver(destination, to(0), to(0), to(0));
              assertThat(run.subList(1, 3)).containsOnly("not sent kafka_behind");
              return System.nanoTime() - start > Duration.ofSeconds(2).toNanos(); // it was tried
            });
    assertThat(destination.producerOfRuns(key)).isSameAs(ofRuns);
    assertThat(destination.mayFollow(to(0), to(0))).isFalse();
  }

  @Test
  void itsMessagesWaitWithoutAnAttemptAndTakeNoRoomFromOthers() throws Exception {
    String topic = "t-" + UUID.randomUUID();
    ScheduledExecutorService others = Executors.newSingleThreadScheduledExecutor();
    try (KafkaCluster cluster = KafkaCluster.start(3)) {
      createTopic(cluster, topic);
      KafkaConfig config =
          KafkaConfig.builder(cluster.address())
              .topic(topic)
              .deliveryTimeout(Duration.ofSeconds(4))
              .build();
      int lost = leader(cluster, topic, 0);
      int there = leader(cluster, topic, 1) == lost ? 2 : 1;
      assertThat(leader(cluster, topic, there)).isNotEqualTo(lost);
      try (KafkaDestination destination = KafkaDestination.open(config)) {
        assertThat(deliver(destination, to(0), to(there))).containsOnly("delivered");
        var unused =
            others.scheduleAtFixedRate(
                () -> destination.deliver(List.of(to(there)), (id, outcome) -> {}),
                0,
                50,
                TimeUnit.MILLISECONDS);
        cluster.broker(lost).kill();
        Message waiting = to(0);
        List<String> single = new ArrayList<>();
        await()
            .atMost(Duration.ofMinutes(2))
            .until(
                () -> {
                  single.addAll(deliver(destination, waiting));
                  return single.stream().filter(AWAY::equals).count() >= 100;
                });
        assertThat(single).noneMatch(code -> code.startsWith("retryable"));
        List<String> run = deliver(destination, to(0), to(0), to(there));
        assertThat(run).contains("delivered").noneMatch(code -> code.startsWith("retryable"));
        assertRunsStopNoProducer(destination);
        cluster.broker(lost).restart();
        await()
            .atMost(Duration.ofMinutes(2))
            .until(() -> deliver(destination, waiting).contains("delivered"));
      }
    } finally {
      others.shutdownNow();
    }
  }
}
