package dev.postrider.server;

import dev.postrider.observe.Backlog;
import dev.postrider.observe.BacklogMeters;
import dev.postrider.observe.MicrometerMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The numbers that {@code /v1/metrics} shows: the backlog, and those of a relay in the same process
 * once {@link #relay} was asked for. Thread-safe.
 */
public final class Metrics {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final BacklogMeters backlog = new BacklogMeters(registry);
  private @Nullable MicrometerMetrics relay;

  /**
   * The listener for relays of this process. Ask for it only if there is one: a process without a
   * relay must not export the series of a relay.
   */
  public synchronized MicrometerMetrics relay() {
    if (relay == null) {
      relay = new MicrometerMetrics(registry);
    }
    return relay;
  }

  void show(Backlog read) {
    backlog.show(read);
  }

  /** For meters of other parts. */
  public PrometheusMeterRegistry registry() {
    return registry;
  }
}
