package dev.postrider.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.errors.TimeoutException;

/** Fails as the record's body says; all others go to the first partition. */
public class FaultyPartitioner implements Partitioner {
  enum Fault {
    ILLEGAL_STATE,
    CLIENTS_EXCEPTION,
    ERROR,
    NEGATIVE,
    NO_SUCH_PARTITION;

    byte[] body() {
      return name().getBytes(UTF_8);
    }
  }

  @Override
  public int partition(
      String topic, Object key, byte[] keyBytes, Object value, byte[] body, Cluster cluster) {
    for (Fault fault : Fault.values()) {
      if (fault.name().equals(new String(body, UTF_8))) {
        return switch (fault) {
          case ILLEGAL_STATE -> throw new IllegalStateException("spoiled");
          case CLIENTS_EXCEPTION -> throw new TimeoutException("spoiled");
          case ERROR -> throw new NoClassDefFoundError("spoiled");
          case NEGATIVE -> -7;
          case NO_SUCH_PARTITION -> cluster.partitionCountForTopic(topic);
        };
      }
    }
    return 0;
  }

  @Override
  public void close() {}

  @Override
  public void configure(Map<String, ?> configs) {}
}
