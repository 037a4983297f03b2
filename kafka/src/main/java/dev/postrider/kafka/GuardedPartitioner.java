package dev.postrider.kafka;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Asks the user's partitioner, and tells its failures from those of the client: they say nothing
 * about the producer. Kafka's client makes it; it is not for applications. Thread-safe if the
 * user's partitioner is.
 */
public class GuardedPartitioner implements Partitioner {
  private static final String GUARDED = "postrider.partitioner.class";

  @Nullable Partitioner guarded;

  /** The user's partitioner failed on this record. */
  static final class PartitionerThrew extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PartitionerThrew(String what, @Nullable Throwable cause) {
      super(what, cause);
    }
  }

  /** The settings with the user's partitioner, if there is one, guarded. */
  static Map<String, String> guard(Map<String, String> settings) {
    String name = settings.get(ProducerConfig.PARTITIONER_CLASS_CONFIG);
    if (name == null || name.isBlank()) {
      return settings;
    }
    Map<String, String> all = new HashMap<>(settings);
    all.put(ProducerConfig.PARTITIONER_CLASS_CONFIG, partitioner());
    all.put(GUARDED, name.strip());
    return all;
  }

  /** Clients before 4.2, such as that of Spring Boot 3.5, have no metrics of partitioners. */
  private static String partitioner() {
    try {
      Class.forName("org.apache.kafka.common.metrics.Monitorable");
      return MeasuredPartitioner.class.getName();
    } catch (ClassNotFoundException e) {
      return GuardedPartitioner.class.getName();
    }
  }

  @Override
  public void configure(Map<String, ?> configs) {
    String name = Objects.requireNonNull(configs.get(GUARDED)).toString();
    try {
      Partitioner made = Utils.newInstance(name, Partitioner.class);
      Map<String, Object> own = new HashMap<>(configs);
      own.remove(GUARDED);
      own.put(ProducerConfig.PARTITIONER_CLASS_CONFIG, name);
      made.configure(own);
      guarded = made;
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException("no class " + name, e);
    }
  }

  @Override
  public int partition(
      String topic,
      @Nullable Object key,
      byte @Nullable [] keyBytes,
      Object value,
      byte[] valueBytes,
      Cluster cluster) {
    int partition;
    try {
      partition =
          Objects.requireNonNull(guarded)
              .partition(topic, key, keyBytes, value, valueBytes, cluster);
    } catch (RuntimeException | Error e) {
      throw new PartitionerThrew("the partitioner threw", e);
    }
    Integer count = cluster.partitionCountForTopic(topic);
    if (partition < 0 || (count != null && partition >= count)) {
      throw new PartitionerThrew(
          "the partitioner chose partition %d of %d".formatted(partition, count), null);
    }
    return partition;
  }

  @Override
  public void close() {
    Partitioner last = guarded;
    if (last != null) {
      last.close();
    }
  }
}
