package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** DataSources behind the proxies of Spring, and DataSources that are created late. */
@Tag("OP-5")
class WrappedDataSourceTest {
  private static final String PAYLOADS =
      "select convert_from(payload, 'UTF8') from postrider.message order by id";

  enum Wrapping {
    LAZY(LazyConnectionDataSourceProxy::new),
    AWARE(TransactionAwareDataSourceProxy::new),
    BOTH(pool -> new LazyConnectionDataSourceProxy(new TransactionAwareDataSourceProxy(pool)));

    private final UnaryOperator<DataSource> proxy;

    Wrapping(UnaryOperator<DataSource> proxy) {
      this.proxy = proxy;
    }
  }

  static class Mails {
    final List<String> sent = new CopyOnWriteArrayList<>();

    @OutboxHandler(namespace = "shop", topic = "orders")
    void ordered(String payload) {
      sent.add(payload);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    Mails mails() {
      return new Mails();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Wrapped extends Shop {
    @Bean
    DataSource dataSource(Environment properties) {
      HikariDataSource pool = pool(properties.getRequiredProperty("spring.datasource.url"));
      return properties.getRequiredProperty("wrapping", Wrapping.class).proxy.apply(pool);
    }

    private static HikariDataSource pool(String url) {
      HikariDataSource pool =
          DataSourceBuilder.create().type(HikariDataSource.class).url(url).build();
      pool.setMaximumPoolSize(1);
      pool.setAutoCommit(false);
      pool.setConnectionInitSql("set application_name = 'shop'");
      return pool;
    }
  }

  static class Ledger {
    private final JdbcTemplate jdbc;

    Ledger(DataSource billing) {
      this.jdbc = new JdbcTemplate(billing);
    }

    @OutboxHandler(
        outbox = "billing",
        namespace = "shop",
        topic = "payments",
        name = "ledger",
        once = true)
    void paid(String payload) {
      jdbc.update("insert into ledger values (?)", payload);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class TwoWrapped {
    @Bean
    DataSource orders(Environment properties) {
      return wrapped(properties.getRequiredProperty("orders"));
    }

    @Bean
    DataSource billing(Environment properties) {
      return wrapped(properties.getRequiredProperty("billing"));
    }

    private static DataSource wrapped(String url) {
      return new TransactionAwareDataSourceProxy(DataSourceBuilder.create().url(url).build());
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
    Ledger ledger(@Qualifier("billing") DataSource billing) {
      return new Ledger(billing);
    }
  }

  private static NewMessage message(String topic, String payload) {
    return NewMessage.to("shop", topic).json(payload).build();
  }

  private static TransactionTemplate transaction(ConfigurableApplicationContext app) {
    return new TransactionTemplate(app.getBean(PlatformTransactionManager.class));
  }

  @ParameterizedTest
  @EnumSource
  void publishJoinsTheTransaction(Wrapping wrapping) {
    TestPostgres database = Apps.database();
    try (var app =
        Apps.start(
            database, Wrapped.class, "wrapping=" + wrapping, "postrider.relay.enabled=false")) {
      TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
      assertThatThrownBy(() -> outbox.publish(message("orders", "0")))
          .isInstanceOf(OutsideTransactionException.class);
      transaction(app).executeWithoutResult(status -> outbox.publish(message("orders", "1")));
      transaction(app)
          .executeWithoutResult(
              status -> {
                outbox.publish(message("orders", "2"));
                status.setRollbackOnly();
              });
      transaction(app)
          .executeWithoutResult(
              status -> {
                app.getBean(JdbcTemplate.class).execute("create table purchase (id text)");
                outbox.publish(message("orders", "3"));
              });
    }
    assertThat(database.column(PAYLOADS)).containsExactly("1", "3");
  }

  @ParameterizedTest
  @EnumSource
  void theRelayTakesNoConnectionOfThePoolBehindTheProxy(Wrapping wrapping) throws Exception {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Wrapped.class, "wrapping=" + wrapping)) {
      TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
      transaction(app).executeWithoutResult(status -> outbox.publish(message("orders", "1")));
      Mails mails = app.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.sent).containsExactly("1"));
      HikariDataSource pool = app.getBean(DataSource.class).unwrap(HikariDataSource.class);
      assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
      try (Connection own = RelayConnections.beside(app.getBean(DataSource.class)).getConnection();
          Statement statement = own.createStatement();
          ResultSet name = statement.executeQuery("show application_name")) {
        name.next();
        assertThat(name.getString(1)).isEqualTo("shop");
      }
    }
  }

  /** A property of Spring Boot 4.1. Older ones do not know it. */
  @Test
  void connectionsMayBeFetchedLate() throws Exception {
    TestPostgres database = Apps.database();
    try (var app =
        Apps.start(
            database,
            Shop.class,
            "spring.datasource.connection-fetch=lazy",
            "spring.datasource.hikari.maximum-pool-size=1")) {
      TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
      transaction(app).executeWithoutResult(status -> outbox.publish(message("orders", "1")));
      Mails mails = app.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.sent).containsExactly("1"));
      HikariDataSource pool = app.getBean(DataSource.class).unwrap(HikariDataSource.class);
      assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
    }
  }

  @Test
  void theTransactionManagerOfAWrappedDataSourceIsFoundAmongSeveral() {
    TestPostgres orders = Apps.database();
    TestPostgres billing = Apps.database();
    billing.execute("create table ledger (entry text)");
    billing.execute("select postrider.enqueue('shop', 'payments', '7')");
    try (var app =
        Apps.start(
            TwoWrapped.class,
            "orders=" + orders.jdbcUrl(),
            "billing=" + billing.jdbcUrl(),
            "postrider.data-source=orders",
            "postrider.outboxes.billing.data-source=billing",
            Apps.NO_JPA_AND_JOOQ)) {
      await()
          .untilAsserted(
              () -> assertThat(billing.column("select entry from ledger")).containsExactly("7"));
      assertThat(app.isRunning()).isTrue();
    }
  }

  /** Nobody needs the tables yet. */
  @Test
  void underLazyInitializationAPublisherOpensNoConnectionAtItsStart() {
    TestPostgres database = Apps.database();
    try (var app =
        Apps.start(
            database,
            Shop.class,
            "spring.main.lazy-initialization=true",
            "postrider.relay.enabled=false")) {
      HikariDataSource pool = app.getBean(HikariDataSource.class);
      assertThat(pool.getHikariPoolMXBean()).as("a pool that has opened connections").isNull();
      TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
      transaction(app).executeWithoutResult(status -> outbox.publish(message("orders", "1")));
    }
    assertThat(database.column(PAYLOADS)).containsExactly("1");
  }
}
