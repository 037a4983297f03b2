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
final class Acknowledgements {
  private static final int PARTITIONS_MOST = 10_000;

  /** How far the cluster is with other records, when one is given up. */
  enum Reach {
    /** None was acknowledged lately. */
    NONE,
    /** Others were; its own partition is not known. */
    ELSEWHERE,
    /** Others were, of other partitions than its own. */
    OTHER_PARTITIONS,
    /** Others of its partition were: it only had to wait. */
    ITS_PARTITION,
    /** Its partition took others each time between its time-outs, which were many. */
    OVERTAKEN
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
    if (metadata == null || metadata.partition() < 0) {
      return Reach.ELSEWHERE;
    }
    Long last = byPartition.get(partition(metadata));
    return last != null && nowNanos - last < nanos ? Reach.ITS_PARTITION : Reach.OTHER_PARTITIONS;
  }

  /** Whether its partition, or if that is not known any, took a record after this moment. */
  boolean since(long nanos, @Nullable RecordMetadata metadata) {
    if (metadata == null || metadata.partition() < 0) {
      return any && lastNanos - nanos > 0;
    }
    Long last = byPartition.get(partition(metadata));
    return last != null && last - nanos > 0;
  }

  private static TopicPartition partition(RecordMetadata metadata) {
    return new TopicPartition(metadata.topic(), metadata.partition());
  }
}
