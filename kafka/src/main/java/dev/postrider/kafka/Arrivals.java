package dev.postrider.kafka;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * When the cluster last acknowledged a record of any producer of the destination, and when each
 * partition did. It tells a cluster that is away from a partition that does not answer, and that
 * from one that is slow. Thread-safe.
 */
final class Arrivals {
  private static final int PARTITIONS_MOST = 10_000;

  /** How far the cluster is with other records, when one is given up. */
  enum Reach {
    /** None was acknowledged lately. */
    NONE,
    /** Others were, of other partitions. */
    ELSEWHERE,
    /** Others of its partition were: it only had to wait. */
    ITS_PARTITION
  }

  private final Map<TopicPartition, Long> byPartition = new ConcurrentHashMap<>();
  private volatile boolean any;
  private volatile long lastNanos;

  void at(@Nullable RecordMetadata metadata, long nanos) {
    lastNanos = nanos;
    any = true;
    if (metadata != null) {
      if (byPartition.size() >= PARTITIONS_MOST) {
        byPartition.clear();
      }
      byPartition.put(partition(metadata), nanos);
    }
  }

  /** For a record that was given up now; metadata of the record, if the client says. */
  Reach within(long nanos, @Nullable RecordMetadata metadata, long nowNanos) {
    if (!any || nowNanos - lastNanos >= nanos) {
      return Reach.NONE;
    }
    Long last = metadata == null ? null : byPartition.get(partition(metadata));
    return last != null && nowNanos - last < nanos ? Reach.ITS_PARTITION : Reach.ELSEWHERE;
  }

  private static TopicPartition partition(RecordMetadata metadata) {
    return new TopicPartition(metadata.topic(), metadata.partition());
  }
}
