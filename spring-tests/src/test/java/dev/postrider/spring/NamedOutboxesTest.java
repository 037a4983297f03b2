package dev.postrider.spring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Two DataSources, each with its outbox and its relay. */
@Tag("OP-5")
@ExtendWith(OutputCaptureExtension.class)
class NamedOutboxesTest {
  private static final String WAITING = "select count(*) from postrider.queue";

  static class Mails {
    final List<String> sent = new CopyOnWriteArrayList<>();

    @OutboxHandler(namespace = "shop", topic = "orders")
    void ordered(String payload) {
      sent.add("order " + payload);
    }

    @OutboxHandler(outbox = "billing", namespace = "shop", topic = "orders", name = "bills")
    void billed(String payload) {
      sent.add("bill " + payload);
    }
  }

  /** The inbox of the second database, though its transaction manager is not primary. */
  static class Ledger {
    private final JdbcTemplate billing;

    Ledger(DataSource billing) {
      this.billing = new JdbcTemplate(billing);
    }

    @OutboxHandler(
        outbox = "billing",
        namespace = "shop",
        topic = "payments",
        name = "ledger",
        once = true)
    void paid(String payload) {
      billing.update("insert into ledger values (?)", payload);
    }
  }

  /** Says which outbox it heard of. */
  record Listener(String outbox, List<String> heard) implements PublishListener {
    @Override
    public void published(NewMessage message, Enqueued answer) {
      heard.add(outbox + " " + new String(message.payload(), UTF_8));
    }
  }

  record Both(TransactionalOutbox orders, TransactionalOutbox billing) {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    DataSource orders(Environment properties) {
      return DataSourceBuilder.create().url(properties.getRequiredProperty("orders")).build();
    }

    @Bean
    DataSource billing(Environment properties) {
      return DataSourceBuilder.create().url(properties.getRequiredProperty("billing")).build();
    }

    @Bean
    JdbcTransactionManager orderTransactions(@Qualifier("orders") DataSource orders) {
      return new JdbcTransactionManager(orders);
    }

    @Bean
    JdbcTransactionManager billingTransactions(@Qualifier("billing") DataSource billing) {
      return new JdbcTransactionManager(billing);
    }

    @Bean
    Mails mails() {
      return new Mails();
    }

    @Bean
    Ledger ledger(@Qualifier("billing") DataSource billing) {
      return new Ledger(billing);
    }

    @Bean
    Both both(TransactionalOutbox orders, @Qualifier("billing") TransactionalOutbox billing) {
      return new Both(orders, billing);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Heard extends Shop {
    private final List<String> all = new CopyOnWriteArrayList<>();

    @Bean
    Listener first() {
      return new Listener("first", all);
    }

    @Bean
    @Qualifier("billing")
    Listener second() {
      return new Listener("billing", all);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Lost extends Shop {
    @OutboxHandler(outbox = "nowhere", namespace = "shop", topic = "lost")
    void lost(String payload) {}
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Misnamed extends Shop {
    @Bean
    String misnamed(@Qualifier("biling") TransactionalOutbox outbox) {
      return outbox.toString();
    }
  }

  private static ConfigurableApplicationContext start(
      Class<?> source, TestPostgres orders, TestPostgres billing, String... more) {
    String[] all = new String[more.length + 5];
    System.arraycopy(more, 0, all, 5, more.length);
    all[0] = Apps.NO_JPA_AND_JOOQ;
    all[1] = "orders=" + orders.jdbcUrl();
    all[2] = "billing=" + billing.jdbcUrl();
    all[3] = "postrider.data-source=orders";
    all[4] = "postrider.outboxes.billing.retry.max-attempts=3";
    return Apps.start(source, all);
  }

  private static void in(ConfigurableApplicationContext app, String manager, Runnable work) {
    new TransactionTemplate(app.getBean(manager, PlatformTransactionManager.class))
        .executeWithoutResult(status -> work.run());
  }

  private static NewMessage message(String topic, String payload) {
    return NewMessage.to("shop", topic).json(payload).build();
  }

  @Test
  void eachDataSourceHasItsTablesItsOutboxAndItsRelay() {
    TestPostgres orders = Apps.database();
    TestPostgres billing = Apps.database();
    billing.execute("drop schema postrider cascade");
    billing.execute("create table ledger (entry text)");
    try (var app = start(Shop.class, orders, billing)) {
      Both both = app.getBean(Both.class);
      Mails mails = app.getBean(Mails.class);
      assertThat(app.getBeanNamesForType(OutboxRelay.class))
          .containsExactlyInAnyOrder("outboxRelay", "billingOutboxRelay");
      in(app, "orderTransactions", () -> both.orders().publish(message("orders", "1")));
      await().untilAsserted(() -> assertThat(mails.sent).containsExactly("order 1"));
      in(app, "billingTransactions", () -> both.billing().publish(message("orders", "2")));
      await().untilAsserted(() -> assertThat(mails.sent).containsExactly("order 1", "bill 2"));
      in(app, "billingTransactions", () -> both.billing().publish(message("payments", "3")));
      await().untilAsserted(() -> assertThat(billing.count(WAITING)).isZero());
      assertThat(billing.column("select entry from ledger")).containsExactly("3");
      assertThat(billing.column("select consumer from postrider.inbox")).containsExactly("ledger");
      assertThatThrownBy(
              () ->
                  in(
                      app,
                      "orderTransactions",
                      () -> both.billing().publish(message("orders", "4"))))
          .isInstanceOf(OutsideTransactionException.class);
      assertThatThrownBy(
              () ->
                  in(
                      app,
                      "billingTransactions",
                      () -> both.billing().publish(message("refunds", "5"))))
          .isInstanceOf(NoRouteException.class);
      OutboxHealth health = OutboxHealth.of(app.getBeansOfType(OutboxRelay.class));
      assertThat(health.up()).isTrue();
      assertThat(health.details()).containsOnlyKeys("billingOutboxRelay", "outboxRelay");
    }
    assertThat(orders.count("select count(*) from postrider.message")).isEqualTo(1);
    assertThat(billing.count("select count(*) from postrider.message")).isEqualTo(2);
  }

  @Test
  void aListenerHearsOfTheOutboxThatItsQualifierNames() {
    TestPostgres orders = Apps.database();
    TestPostgres billing = Apps.database();
    try (var app = start(Heard.class, orders, billing, "postrider.relay.enabled=false")) {
      Both both = app.getBean(Both.class);
      in(app, "orderTransactions", () -> both.orders().publish(message("orders", "1")));
      in(app, "billingTransactions", () -> both.billing().publish(message("orders", "2")));
      assertThat(app.getBean(Heard.class).all).containsExactly("first 1", "billing 2");
    }
  }

  @Test
  void relaysAreSwitchedOffTogetherOrAlone() {
    TestPostgres orders = Apps.database();
    TestPostgres billing = Apps.database();
    try (var app = start(Shop.class, orders, billing, "postrider.relay.enabled=false")) {
      assertThat(app.getBeanNamesForType(OutboxRelay.class)).isEmpty();
    }
    try (var app =
        start(Shop.class, orders, billing, "postrider.outboxes.billing.relay.enabled=false")) {
      assertThat(app.getBeanNamesForType(OutboxRelay.class)).containsExactly("outboxRelay");
    }
  }

  @Test
  void aHandlerOfAnUnknownOutboxIsReported(CapturedOutput output) {
    TestPostgres orders = Apps.database();
    TestPostgres billing = Apps.database();
    assertThatThrownBy(() -> start(Lost.class, orders, billing));
    assertThat(output)
        .contains("names the outbox \"nowhere\", which does not exist")
        .contains("Define postrider.outboxes.nowhere, or name one of [billing]");
  }

  @Test
  void aWrongSettingIsReportedWithItsWholeKey(CapturedOutput output) {
    TestPostgres orders = Apps.database();
    TestPostgres billing = Apps.database();
    assertThatThrownBy(
        () ->
            start(
                Shop.class,
                orders,
                billing,
                "postrider.outboxes.billing.routes[0].namespace=shop",
                "postrider.outboxes.billing.routes[0].destination=broker",
                "postrider.outboxes.billing.destinations.broker.type=rabbit"));
    assertThat(output)
        .contains("postrider.outboxes.billing.destinations.broker.type is \"rabbit\"");
  }

  @Test
  void aQualifierThatIsNotThereIsReported(CapturedOutput output) {
    TestPostgres orders = Apps.database();
    assertThatThrownBy(() -> start(Misnamed.class, orders, orders));
    assertThat(output)
        .contains("A TransactionalOutbox with a qualifier is needed")
        .contains("biling")
        .contains("Define postrider.outboxes.NAME.data-source");
  }

  @Test
  void aDataSourceThatIsNotThereIsReported(CapturedOutput output) {
    TestPostgres orders = Apps.database();
    assertThatThrownBy(
        () -> start(Shop.class, orders, orders, "postrider.outboxes.billing.data-source=bills"));
    assertThat(output)
        .contains("postrider.outboxes.billing.data-source names \"bills\"")
        .contains("Set postrider.outboxes.billing.data-source to the name of a DataSource bean");
  }
}
