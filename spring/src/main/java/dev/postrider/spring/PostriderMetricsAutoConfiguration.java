package dev.postrider.spring;

import dev.postrider.observe.BacklogMeters;
import dev.postrider.observe.BacklogSampler;
import dev.postrider.observe.MicrometerMetrics;
import dev.postrider.observe.RelayListener;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/** Metrics of the relay and of the backlog, in applications with a meter registry. */
@AutoConfiguration(
    after = PostriderRelayAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
    })
@ConditionalOnClass(name = "io.micrometer.core.instrument.MeterRegistry")
@ConditionalOnBean(value = OutboxRelay.class, type = "io.micrometer.core.instrument.MeterRegistry")
public class PostriderMetricsAutoConfiguration {
  @Bean
  RelayListener postriderMetrics(ObjectProvider<MeterRegistry> registries) {
    return new MicrometerMetrics(all(registries));
  }

  @Bean(initMethod = "start", destroyMethod = "close")
  @Lazy(false)
  BacklogSampler postriderBacklog(
      OutboxSchema database,
      PostriderProperties properties,
      ObjectProvider<MeterRegistry> registries) {
    return new BacklogSampler(
        database.dataSource(),
        database.schema(),
        properties.relay().backlogInterval(),
        new BacklogMeters(all(registries))::show);
  }

  /** The only or primary one; if none is primary, all of them count. */
  private static MeterRegistry all(ObjectProvider<MeterRegistry> registries) {
    MeterRegistry chosen = registries.getIfUnique();
    return chosen == null
        ? new CompositeMeterRegistry(Clock.SYSTEM, registries.orderedStream().toList())
        : chosen;
  }
}
