package dev.postrider.spring;

import dev.postrider.observe.BacklogMeters;
import dev.postrider.observe.BacklogSampler;
import dev.postrider.observe.MicrometerMetrics;
import dev.postrider.observe.RelayListener;
import io.micrometer.core.instrument.MeterRegistry;
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
  RelayListener postriderMetrics(MeterRegistry registry) {
    return new MicrometerMetrics(registry);
  }

  @Bean(initMethod = "start", destroyMethod = "close")
  @Lazy(false)
  BacklogSampler postriderBacklog(
      OutboxSchema database, PostriderProperties properties, MeterRegistry registry) {
    return new BacklogSampler(
        database.dataSource(),
        database.schema(),
        properties.relay().backlogInterval(),
        new BacklogMeters(registry)::show);
  }
}
