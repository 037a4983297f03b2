package dev.postrider.spring;

import java.util.Map;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Health of the relay, on Spring Boot 4. */
@AutoConfiguration(after = PostriderRelayAutoConfiguration.class)
@ConditionalOnClass(
    name = {
      "org.springframework.boot.health.contributor.HealthIndicator",
      "org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator"
    })
@ConditionalOnBean(OutboxRelay.class)
public class PostriderHealth4AutoConfiguration {
  @Bean
  @ConditionalOnEnabledHealthIndicator("postrider")
  HealthIndicator postriderHealthIndicator(Map<String, OutboxRelay> relays) {
    return () -> {
      OutboxHealth health = OutboxHealth.of(relays);
      return (health.up() ? Health.up() : Health.down()).withDetails(health.details()).build();
    };
  }
}
