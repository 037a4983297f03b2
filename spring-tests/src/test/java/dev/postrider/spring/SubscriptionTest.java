package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.testkit.TestPostgres;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Several handlers and routes of one topic. */
@Tag("OP-5")
@Tag("EN-23")
class SubscriptionTest {
  private static final String NAMED =
      "select count(*) from postrider.subscription where name <> '' and active";

  static class Receivers {
    final List<String> calls = new CopyOnWriteArrayList<>();
    volatile boolean mailIsDown;

    @OutboxHandler(namespace = "shop", topic = "orders", name = "stock")
    void stock(String payload) {
      calls.add("stock " + payload);
    }

    @OutboxHandler(namespace = "shop", topic = "orders", subscription = "mail", name = "mail")
    Outcome mail(String payload) {
      if (mailIsDown) {
        return Outcome.terminal("refused", "the mailbox is full");
      }
      calls.add("mail " + payload);
      return Outcome.delivered();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    Receivers receivers() {
      return new Receivers();
    }
  }

  static class Two {
    @OutboxHandler(namespace = "shop", topic = "orders", subscription = "mail")
    void one(String payload) {}

    @OutboxHandler(namespace = "shop", topic = "orders", subscription = "mail")
    void other(String payload) {}
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class TwoOfOneName {
    @Bean
    Two two() {
      return new Two();
    }
  }

  private static void publish(ConfigurableApplicationContext app, String payload) {
    TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
    new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(
            status -> outbox.publish(NewMessage.to("shop", "orders").json(payload).build()));
  }

  @Test
  void eachHandlerAndRouteHasItsOwnProgress() {
    TestPostgres database = Apps.database();
    try (var app =
        Apps.start(
            database,
            Shop.class,
            "postrider.destinations.events.type=stream",
            "postrider.routes[0].namespace=shop",
            "postrider.routes[0].topic=orders",
            "postrider.routes[0].subscription=events",
            "postrider.routes[0].destination=events")) {
      await().untilAsserted(() -> assertThat(database.count(NAMED)).isEqualTo(2));
      Receivers receivers = app.getBean(Receivers.class);
      receivers.mailIsDown = true;
      publish(app, "1");
      await()
          .untilAsserted(
              () -> assertThat(database.count("select count(*) from postrider.queue")).isZero());
      assertThat(receivers.calls).containsExactly("stock 1");
      assertThat(
              database.column(
                  "select subscription || ' ' || state from postrider.delivery_state order by 1"))
          .containsExactly(" delivered", "events delivered", "mail dead");
    }
  }

  @Test
  void aBadNameIsReported() {
    TestPostgres database = Apps.database();
    assertThatThrownBy(
            () ->
                Apps.start(
                        database,
                        Shop.class,
                        "postrider.destinations.events.type=stream",
                        "postrider.routes[0].namespace=shop",
                        "postrider.routes[0].topic=orders",
                        "postrider.routes[0].subscription=no name",
                        "postrider.routes[0].destination=events")
                    .close())
        .hasStackTraceContaining("The subscription shop/orders#no name has a bad name.");
  }

  @Test
  void twoOfOneNameAreReported() {
    TestPostgres database = Apps.database();
    assertThatThrownBy(() -> Apps.start(database, TwoOfOneName.class).close())
        .hasStackTraceContaining("shop/orders#mail has two routes or handlers: ");
  }
}
