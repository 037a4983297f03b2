package dev.postrider.spring;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** The actuator endpoint, if it is exposed. */
@AutoConfiguration(after = PostriderAutoConfiguration.class)
@ConditionalOnClass(
    name = {
      "org.springframework.boot.actuate.endpoint.annotation.Endpoint",
      "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint"
    })
@ConditionalOnBean(OutboxSchema.class)
public class PostriderEndpointAutoConfiguration {
  @Bean
  @ConditionalOnAvailableEndpoint(endpoint = OutboxEndpoint.class)
  OutboxEndpoint postriderEndpoint(OutboxSchema database) {
    return new OutboxEndpoint(database);
  }
}
