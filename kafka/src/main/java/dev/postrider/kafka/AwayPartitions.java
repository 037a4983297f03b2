package dev.postrider.kafka;

import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Partitions that took nothing while others did. Their messages would fill the client, which is
 * there for all partitions. So they are not sent, except for one from time to time, which finds out
 * whether the partition is back. Thread-safe.
 */
final class AwayPartitions {
  private static final int MOST = 10_000;

  private final long pauseNanos;
  private final long probeNanos;
  private final Map<TopicPartition, Long> probeAtNanos = new ConcurrentHashMap<>();

  /** A record is given up after {@code deliveryTimeout}. */
  AwayPartitions(Duration deliveryTimeout) {
    this.pauseNanos = deliveryTimeout.toNanos() / 2;
    this.probeNanos = deliveryTimeout.toNanos() * 2;
  }

  boolean any() {
    return !probeAtNanos.isEmpty();
  }

  /** A record was given up, and the partition took no other. */
  void gaveUp(RecordMetadata metadata, long nowNanos) {
    if (probeAtNanos.size() < MOST) {
      probeAtNanos.put(partition(metadata), nowNanos + pauseNanos);
    }
  }

  void took(@Nullable RecordMetadata metadata) {
    if (metadata != null && any()) {
      probeAtNanos.remove(partition(metadata));
    }
  }

  boolean has(TopicPartition partition) {
    return probeAtNanos.containsKey(partition);
  }

  /** The answer for a message to this partition that is not sent; null if it is to be sent. */
  @Nullable Outcome answerFor(TopicPartition partition, long nowNanos) {
    Long at = probeAtNanos.get(partition);
    if (at == null) {
      return null;
    }
    boolean probes =
        nowNanos - at >= 0 && probeAtNanos.replace(partition, at, nowNanos + probeNanos);
    return probes ? null : KafkaErrors.partitionAway(partition + " does not answer");
  }

  private static TopicPartition partition(RecordMetadata metadata) {
    return new TopicPartition(metadata.topic(), metadata.partition());
  }
}
