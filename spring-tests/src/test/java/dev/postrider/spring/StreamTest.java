package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The destination for clients that follow the log. It holds a connection, like the relay. */
@Tag("OP-5")
class StreamTest {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {}

  private static void publish(ConfigurableApplicationContext app) {
    TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
    new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(
            status -> outbox.publish(NewMessage.to("shop", "orders").json("7").build()));
  }

  @Test
  void itTakesNoConnectionOfThePool() {
    TestPostgres database = Apps.database();
    try (var app =
        Apps.start(
            database,
            Shop.class,
            "spring.datasource.hikari.maximum-pool-size=1",
            "postrider.destinations.log.type=stream",
            "postrider.routes[0].namespace=shop",
            "postrider.routes[0].destination=log")) {
      publish(app);
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                assertThat(database.count("select count(*) from postrider.queue")).isZero();
                assertThat(database.count("select count(*) from postrider.stream_event"))
                    .isEqualTo(1);
              });
      HikariDataSource pool = app.getBean(HikariDataSource.class);
      assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
      publish(app);
    }
  }
}
