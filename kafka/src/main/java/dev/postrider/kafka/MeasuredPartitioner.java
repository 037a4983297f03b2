package dev.postrider.kafka;

import org.apache.kafka.common.metrics.Monitorable;
import org.apache.kafka.common.metrics.PluginMetrics;

/**
 * Lets the user's partitioner have metrics. Kafka's client makes it, if it is new enough; it is not
 * for applications. Thread-safe if the user's partitioner is.
 */
public final class MeasuredPartitioner extends GuardedPartitioner implements Monitorable {
  @Override
  public void withPluginMetrics(PluginMetrics metrics) {
    if (guarded instanceof Monitorable monitorable) {
      monitorable.withPluginMetrics(metrics);
    }
  }
}
