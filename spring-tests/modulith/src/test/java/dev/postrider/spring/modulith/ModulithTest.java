package dev.postrider.spring.modulith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.spring.OutsideTransactionException;
import dev.postrider.testkit.TestPostgres;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.Externalized;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Events of Spring Modulith 2.1 in outbox mode. */
@Tag("OP-5")
class ModulithTest {
  private static final TestPostgres DATABASE = TestPostgres.start();
  private static final AtomicInteger MAPPED = new AtomicInteger();

  @Externalized("orders::#{orderId()}")
  record OrderCompleted(String orderId, String secret) {}

  record Completed(String number) {}

  record Internal(String text) {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    EventExternalizationConfiguration externalization() {
      return EventExternalizationConfiguration.defaults("dev.postrider.spring.modulith")
          .mapping(
              OrderCompleted.class,
              event -> {
                MAPPED.incrementAndGet();
                return new Completed(event.orderId());
              })
          .headers(OrderCompleted.class, event -> java.util.Map.of("source", "shop"))
          .build();
    }
  }

  private static ConfigurableApplicationContext start() {
    return new SpringApplicationBuilder(Shop.class)
        .web(WebApplicationType.NONE)
        .properties(
            "spring.datasource.url=" + DATABASE.jdbcUrl(),
            "spring.modulith.events.jdbc.schema-initialization.enabled=true",
            "spring.modulith.events.externalization.mode=outbox",
            "postrider.modulith.namespace=shop")
        .run();
  }

  @Test
  void anEventIsPublishedInItsTransactionWithItsKeyEvaluatedAndItsPayloadMappedOnce() {
    try (var app = start()) {
      TransactionTemplate transaction =
          new TransactionTemplate(app.getBean(PlatformTransactionManager.class));
      transaction.executeWithoutResult(
          status -> {
            app.publishEvent(new OrderCompleted("7", "hidden"));
            app.publishEvent(new Internal("stays here"));
          });
      transaction.executeWithoutResult(
          status -> {
            app.publishEvent(new OrderCompleted("8", "hidden"));
            status.setRollbackOnly();
          });
      assertThat(
              DATABASE.column(
                  """
                  select concat_ws(' ', r.namespace, r.topic, m.ordering_key,
                                   convert_from(m.payload, 'UTF8'), m.headers)
                    from postrider.message m join postrider.route r on r.id = m.route
                  """))
          .containsExactly("shop orders 7 {\"number\":\"7\"} {\"source\": \"shop\"}");
      assertThat(MAPPED).hasValue(2);
      assertThatThrownBy(() -> app.publishEvent(new OrderCompleted("9", "hidden")))
          .isInstanceOf(OutsideTransactionException.class);
    }
  }
}
