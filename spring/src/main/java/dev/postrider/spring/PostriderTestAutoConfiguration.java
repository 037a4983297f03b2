package dev.postrider.spring;

import dev.postrider.message.JsonCodec;
import dev.postrider.spring.test.TestOutbox;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;

/**
 * The outbox of tests with {@link dev.postrider.spring.test.AutoConfigureTestOutbox}. No other
 * application gets it.
 */
@AutoConfiguration(after = PostriderRelayAutoConfiguration.class)
@ConditionalOnBean(OutboxSchema.class)
public class PostriderTestAutoConfiguration {
  @Bean
  ManualRelay postriderManualRelay(OutboxSchema database, ObjectProvider<RelayPlan> plan) {
    return new ManualRelay(database, plan::getObject);
  }

  @Bean
  TestOutbox testOutbox(ObjectProvider<ManualRelay> relay, ObjectProvider<JsonCodec> codec) {
    return new TestOutbox(relay::getObject, codec.getIfAvailable());
  }
}
