package dev.postrider.spring;

import java.util.Map;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Health of the relay, on Spring Boot 3. */
@AutoConfiguration(after = PostriderRelayAutoConfiguration.class)
@ConditionalOnClass(
    name = {
      "org.springframework.boot.actuate.health.HealthIndicator",
      "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator"
    })
@ConditionalOnBean(OutboxRelay.class)
public class PostriderHealth3AutoConfiguration {
  @Bean
  @ConditionalOnEnabledHealthIndicator("postrider")
  HealthIndicator postriderHealthIndicator(Map<String, OutboxRelay> relays) {
    return () -> {
      OutboxHealth health = OutboxHealth.of(relays);
      return (health.up() ? Health.up() : Health.down()).withDetails(health.details()).build();
    };
  }
}
