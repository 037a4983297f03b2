package dev.postrider.spring;

import io.micrometer.observation.ObservationRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Observation of publishing and handling, in applications with one or one primary registry. */
@AutoConfiguration(
    after = PostriderAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
      "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
    })
@ConditionalOnClass(name = "io.micrometer.observation.transport.SenderContext")
@ConditionalOnBean(OutboxSchema.class)
@ConditionalOnSingleCandidate(type = "io.micrometer.observation.ObservationRegistry")
public class PostriderObservationAutoConfiguration {
  @Bean
  Observations postriderObservations(ObservationRegistry registry) {
    return new Observations(registry);
  }
}
