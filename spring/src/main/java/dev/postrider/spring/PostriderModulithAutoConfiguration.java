package dev.postrider.spring;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.modulith.events.EventExternalizationConfiguration;

/** Externalization of Spring Modulith 2.1 in outbox mode. */
@AutoConfiguration(
    after = PostriderAutoConfiguration.class,
    afterName = "org.springframework.modulith.events.config.EventExternalizationAutoConfiguration")
@ConditionalOnClass(name = "org.springframework.modulith.events.ExternalizationMode")
@ConditionalOnProperty(
    name = "spring.modulith.events.externalization.enabled",
    matchIfMissing = true)
@ConditionalOnProperty(name = "spring.modulith.events.externalization.mode", havingValue = "outbox")
@ConditionalOnBean(
    value = OutboxSchema.class,
    type = "org.springframework.modulith.events.EventExternalizationConfiguration")
public class PostriderModulithAutoConfiguration {
  @Bean
  ModulithPublisher postriderModulithPublisher(
      TransactionalOutbox outbox,
      EventExternalizationConfiguration configuration,
      PostriderProperties properties,
      BeanFactory beans) {
    return new ModulithPublisher(outbox, configuration, properties.modulith().namespace(), beans);
  }
}
