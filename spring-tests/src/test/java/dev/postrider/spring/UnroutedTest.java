package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.NewMessage;
import dev.postrider.schema.Roles;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Publishing to a topic that nobody carries. */
@Tag("OP-5")
@ExtendWith(OutputCaptureExtension.class)
class UnroutedTest {
  private static final String MESSAGES = "select count(*) from postrider.message";
  private static final String NO_RELAY = "postrider.relay.enabled=false";

  static class Mails {
    final List<String> sent = new CopyOnWriteArrayList<>();

    @OutboxHandler(namespace = "shop", topic = "orders")
    void created(String payload) {
      sent.add(payload);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Producer {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    Mails mails() {
      return new Mails();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class PublishesAtStart extends Shop {
    @Bean
    ApplicationRunner runner(TransactionalOutbox outbox, PlatformTransactionManager manager) {
      return arguments ->
          new TransactionTemplate(manager)
              .executeWithoutResult(status -> outbox.publish(message("payments")));
    }
  }

  private static NewMessage message(String topic) {
    return NewMessage.to("shop", topic).json("7").build();
  }

  private static void publish(ConfigurableApplicationContext app, String topic) {
    TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
    new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(status -> outbox.publish(message(topic)));
  }

  @Test
  void aTopicThatNobodyServesIsRefused() {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Shop.class)) {
      assertThatThrownBy(() -> publish(app, "payments"))
          .isInstanceOf(NoRouteException.class)
          .hasMessageContaining("shop/payments has no route")
          .hasMessageContaining("shop/orders to mails.created")
          .hasMessageContaining("postrider.unrouted=warn");
      publish(app, "orders");
      Mails mails = app.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.sent).containsExactly("7"));
    }
    assertThat(database.count(MESSAGES)).isEqualTo(1);
  }

  @Test
  void atStartTheFailureSaysWhatToDo(CapturedOutput output) {
    TestPostgres database = Apps.database();
    assertThatThrownBy(() -> Apps.start(database, PublishesAtStart.class));
    assertThat(output)
        .contains("shop/payments has no route")
        .contains("Add a handler or a route for the topic, or set postrider.unrouted.");
  }

  @Test
  void anApplicationThatOnlyPublishesIsWarnedOnce(CapturedOutput output) {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Producer.class, NO_RELAY)) {
      publish(app, "payments");
      publish(app, "payments");
    }
    assertThat(database.count(MESSAGES)).isEqualTo(2);
    assertThat(output.toString().split("outbox_publish_unrouted", -1)).hasSize(2);
  }

  /** The look for a route would run what others planted, with the application's rights. */
  @Test
  void operatorsPlantedInPublicAreNotUsed() {
    TestPostgres database = Apps.database();
    database.execute(
        """
        create function public.caught(text, varchar) returns boolean language plpgsql as
          $$ begin raise exception 'a planted function runs'; end $$;
        create operator public.= (leftarg = text, rightarg = varchar, function = public.caught);
        create operator public.<> (leftarg = text, rightarg = varchar, function = public.caught);
        """);
    try (var app = Apps.start(database, Producer.class, NO_RELAY);
        var relay = Apps.start(database, Shop.class)) {
      publish(app, "payments");
      publish(relay, "orders");
    }
    assertThat(database.count(MESSAGES)).isEqualTo(2);
  }

  @Test
  void aProducerCanAskToBeRefusedAndARelayToBeLeftAlone() {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Producer.class, NO_RELAY, "postrider.unrouted=fail")) {
      assertThatThrownBy(() -> publish(app, "payments")).isInstanceOf(NoRouteException.class);
    }
    try (var app = Apps.start(database, Shop.class, "postrider.unrouted=allow")) {
      publish(app, "payments");
    }
    assertThat(database.count(MESSAGES)).isEqualTo(1);
  }

  @Test
  void aRelayInAnotherApplicationCounts(CapturedOutput output) {
    TestPostgres database = Apps.database();
    try (var relay = Apps.start(database, Shop.class);
        var app = Apps.start(database, Producer.class, NO_RELAY, "postrider.unrouted=fail")) {
      String recorded = "select count(*) from postrider.relay_route";
      await().untilAsserted(() -> assertThat(database.count(recorded)).isPositive());
      publish(app, "orders");
      Mails mails = relay.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.sent).containsExactly("7"));
    }
    assertThat(output).doesNotContain("outbox_publish_unrouted");
  }

  @Test
  void aRelayThatStoppedCountsForADay() {
    TestPostgres database = Apps.database();
    String recorded = "select count(*) from postrider.relay_route";
    try (var relay = Apps.start(database, Shop.class)) {
      await().untilAsserted(() -> assertThat(database.count(recorded)).isPositive());
      assertThat(relay.isRunning()).isTrue();
    }
    try (var app = Apps.start(database, Producer.class, NO_RELAY, "postrider.unrouted=fail")) {
      publish(app, "orders");
    }
    database.execute("update postrider.worker set seen_at = now() - interval '25 hours'");
    try (var app = Apps.start(database, Producer.class, NO_RELAY, "postrider.unrouted=fail")) {
      assertThatThrownBy(() -> publish(app, "orders")).isInstanceOf(NoRouteException.class);
    }
    assertThat(database.count(recorded)).isPositive();
  }

  /** Its login may only publish: neither the schema nor the routes can be looked at. */
  @Test
  void aLoginThatMayOnlyPublishStartsAndPublishes() {
    TestPostgres database = Apps.database();
    database.execute(new Roles(Schema.DEFAULT).script());
    database.execute("drop role if exists narrow");
    database.execute("create role narrow login password 'one' in role postrider_producer");
    String url = database.jdbcUrl();
    try (var app =
        Apps.start(
            Producer.class,
            "spring.datasource.url=" + url.substring(0, url.indexOf('?')),
            "spring.datasource.username=narrow",
            "spring.datasource.password=one",
            "postrider.migrate=false",
            "postrider.unrouted=fail",
            NO_RELAY)) {
      publish(app, "payments");
    }
    assertThat(database.count(MESSAGES)).isEqualTo(1);
    database.execute("drop role narrow");
  }
}
