package dev.postrider.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;

/** The relay of an application with an outbox. */
@AutoConfiguration(after = PostriderAutoConfiguration.class)
@ConditionalOnBean(OutboxSchema.class)
public class PostriderRelayAutoConfiguration {
  /** Also for tests that deliver by hand. */
  @Bean
  @Lazy
  RelayPlan postriderRelayPlan(
      OutboxParts parts, PostriderProperties properties, OutboxSchema database) {
    return parts.plan("", properties.first(), database);
  }

  @Bean
  @Primary
  @Lazy(false)
  @ConditionalOnProperty(name = "postrider.relay.enabled", matchIfMissing = true)
  OutboxRelay outboxRelay(OutboxParts parts, RelayPlan plan, LocalWake wake) {
    return parts.relay(plan, wake);
  }
}
