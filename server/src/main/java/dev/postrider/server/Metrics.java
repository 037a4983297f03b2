package dev.postrider.server;

import dev.postrider.observe.MicrometerMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

/**
 * The numbers that {@code /v1/metrics} shows. Give {@link #relay} to relays of the same process as
 * their listener, so that theirs are among them. Thread-safe.
 */
public final class Metrics {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final MicrometerMetrics relay = new MicrometerMetrics(registry);

  /** Hears what a relay does, and takes what a backlog sampler reads. */
  public MicrometerMetrics relay() {
    return relay;
  }

  /** For meters of other parts. */
  public PrometheusMeterRegistry registry() {
    return registry;
  }
}
