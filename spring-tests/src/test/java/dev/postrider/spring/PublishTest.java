package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.postrider.message.JsonCodec;
import dev.postrider.message.NewMessage;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

@Tag("OP-5")
class PublishTest {
  private static final String NO_AUTO_COMMIT = "spring.datasource.hikari.auto-commit=false";
  private static final String PAYLOADS =
      "select convert_from(payload, 'UTF8') from postrider.message order by id";

  record OrderCreated(String orderId) {}

  @Entity(name = "purchase")
  static class Purchase {
    @Id String id;
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {}

  /** Two databases, each with its own transaction manager; the first is the outbox's. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class TwoDatabases {
    @Bean
    DataSource orders(Environment properties) {
      return pool(properties.getRequiredProperty("orders"));
    }

    @Bean
    DataSource billing(Environment properties) {
      return pool(properties.getRequiredProperty("billing"));
    }

    private static DataSource pool(String url) {
      com.zaxxer.hikari.HikariDataSource pool =
          DataSourceBuilder.create()
              .type(com.zaxxer.hikari.HikariDataSource.class)
              .url(url)
              .build();
      pool.setAutoCommit(false);
      return pool;
    }

    @Bean
    JdbcTransactionManager billingTransactions(@Qualifier("billing") DataSource billing) {
      return new JdbcTransactionManager(billing);
    }

    @Bean
    JdbcTransactionManager orderTransactions(@Qualifier("orders") DataSource orders) {
      return new JdbcTransactionManager(orders);
    }
  }

  record Both(TransactionalOutbox first, TransactionalOutbox second) {}

  @Configuration(proxyBeanMethods = false)
  static class TwoOutboxes extends TwoDatabases {
    @Bean
    TransactionalOutbox billingOutbox(@Qualifier("billing") DataSource billing, JsonCodec codec) {
      return new TransactionalOutbox(billing, Schema.DEFAULT, codec);
    }

    @Bean
    Both both(TransactionalOutbox first, @Qualifier("billingOutbox") TransactionalOutbox second) {
      return new Both(first, second);
    }
  }

  private static NewMessage created(String id) {
    return NewMessage.to("shop", "orders")
        .key(id)
        .eventType("created")
        .json(new OrderCreated(id))
        .build();
  }

  private static TransactionTemplate transaction(ConfigurableApplicationContext app) {
    return new TransactionTemplate(app.getBean(PlatformTransactionManager.class));
  }

  @Test
  void theMessageIsCommittedWithTheRows() {
    TestPostgres database = Apps.database();
    database.execute("create table purchase (id text primary key)");
    try (var app = Apps.start(database, Shop.class, NO_AUTO_COMMIT)) {
      TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
      JdbcTemplate jdbc = app.getBean(JdbcTemplate.class);
      transaction(app)
          .executeWithoutResult(
              status -> {
                jdbc.update("insert into purchase values ('1')");
                outbox.publish(created("1"));
              });
      transaction(app)
          .executeWithoutResult(
              status -> {
                jdbc.update("insert into purchase values ('2')");
                outbox.publish(created("2"));
                status.setRollbackOnly();
              });
      assertThat(database.column(PAYLOADS)).containsExactly("{\"orderId\":\"1\"}");
      assertThat(database.column("select id from purchase")).containsExactly("1");
    }
  }

  @Test
  void entitiesAreWrittenBeforeTheMessage() {
    TestPostgres database = Apps.database();
    database.execute("create table purchase (id text primary key)");
    try (var app = Apps.start(database, Shop.class, Apps.WITH_JPA)) {
      EntityManager entities = app.getBean(EntityManager.class);
      JdbcTemplate jdbc = app.getBean(JdbcTemplate.class);
      transaction(app)
          .executeWithoutResult(
              status -> {
                Purchase purchase = new Purchase();
                purchase.id = "1";
                entities.persist(purchase);
                app.getBean(TransactionalOutbox.class).publish(created("1"));
                assertThat(jdbc.queryForObject("select count(*) from purchase", Long.class))
                    .isEqualTo(1);
              });
      assertThat(database.column(PAYLOADS)).hasSize(1);
    }
  }

  @Test
  void withoutATransactionItFailsAndSaysWhatToDo() {
    TestPostgres database = Apps.database();
    for (String autoCommit : new String[] {"true", "false"}) {
      String setting = "spring.datasource.hikari.auto-commit=" + autoCommit;
      try (var app = Apps.start(database, Shop.class, setting)) {
        TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
        assertThatThrownBy(() -> outbox.publish(created("1")))
            .isInstanceOf(OutsideTransactionException.class)
            .hasMessageContaining("@Transactional");
      }
    }
    assertThat(database.column(PAYLOADS)).isEmpty();
  }

  @Test
  void inAReadOnlyTransactionItFailsAndSaysWhatToDo() {
    TestPostgres database = Apps.database();
    database.execute("create table purchase (id text primary key)");
    for (String jpa : List.of(Apps.NO_JPA, Apps.WITH_JPA)) {
      try (var app = Apps.start(database, Shop.class, jpa)) {
        TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
        TransactionTemplate reading = transaction(app);
        reading.setReadOnly(true);
        assertThatThrownBy(
                () -> reading.executeWithoutResult(status -> outbox.publish(created("1"))))
            .isInstanceOf(OutsideTransactionException.class)
            .hasMessageContaining("read-only")
            .hasMessageContaining("nothing was written");
      }
    }
    assertThat(database.column(PAYLOADS)).isEmpty();
  }

  @Test
  void jooqWritesInTheSameTransaction() {
    TestPostgres database = Apps.database();
    database.execute("create table purchase (id text primary key)");
    try (var app = Apps.start(database, Shop.class, NO_AUTO_COMMIT)) {
      TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
      DSLContext jooq = app.getBean(DSLContext.class);
      for (String id : List.of("1", "2")) {
        transaction(app)
            .executeWithoutResult(
                status -> {
                  jooq.execute("insert into purchase values (?)", id);
                  outbox.publish(created(id));
                  if (id.equals("2")) {
                    status.setRollbackOnly();
                  }
                });
      }
      assertThat(database.column(PAYLOADS)).containsExactly("{\"orderId\":\"1\"}");
      assertThat(database.column("select id from purchase")).containsExactly("1");
    }
  }

  @Test
  void anOutboxOfAnotherDataSourceStandsBesideTheFirst() {
    TestPostgres orders = Apps.database();
    TestPostgres billing = Apps.database();
    try (var app =
        Apps.start(
            TwoOutboxes.class,
            "orders=" + orders.jdbcUrl(),
            "billing=" + billing.jdbcUrl(),
            "postrider.data-source=orders",
            Apps.NO_JPA_AND_JOOQ)) {
      Both both = app.getBean(Both.class);
      new TransactionTemplate(app.getBean("orderTransactions", PlatformTransactionManager.class))
          .executeWithoutResult(s -> both.first().publish(created("1")));
      new TransactionTemplate(app.getBean("billingTransactions", PlatformTransactionManager.class))
          .executeWithoutResult(s -> both.second().publish(created("2")));
    }
    assertThat(orders.column(PAYLOADS)).containsExactly("{\"orderId\":\"1\"}");
    assertThat(billing.column(PAYLOADS)).containsExactly("{\"orderId\":\"2\"}");
  }

  /** The connection is borrowed and bound, but nobody would commit it. */
  @Test
  void aTransactionOfAnotherDataSourceIsRefused() {
    TestPostgres orders = Apps.database();
    TestPostgres billing = Apps.database();
    try (var app =
        Apps.start(
            TwoDatabases.class,
            "orders=" + orders.jdbcUrl(),
            "billing=" + billing.jdbcUrl(),
            "postrider.data-source=orders",
            Apps.NO_JPA_AND_JOOQ)) {
      TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
      JdbcTemplate jdbc = new JdbcTemplate(app.getBean("orders", DataSource.class));
      TransactionTemplate other =
          new TransactionTemplate(
              app.getBean("billingTransactions", PlatformTransactionManager.class));
      assertThatThrownBy(() -> other.executeWithoutResult(s -> outbox.publish(created("1"))))
          .isInstanceOf(OutsideTransactionException.class)
          .hasMessageContaining("another DataSource");
      assertThatThrownBy(
              () ->
                  other.executeWithoutResult(
                      s -> {
                        jdbc.queryForList("select 1");
                        outbox.publish(created("2"));
                      }))
          .isInstanceOf(OutsideTransactionException.class);
      new TransactionTemplate(app.getBean("orderTransactions", PlatformTransactionManager.class))
          .executeWithoutResult(s -> outbox.publish(created("3")));
      assertThat(orders.column(PAYLOADS)).containsExactly("{\"orderId\":\"3\"}");
    }
  }

  /** Nobody commits what is written then: with auto-commit off it would be lost silently. */
  @Test
  void afterTheCommitItIsRefusedUnlessInATransactionOfItsOwn() {
    for (String jpa : List.of(Apps.NO_JPA, Apps.WITH_JPA)) {
      TestPostgres database = Apps.database();
      database.execute("create table purchase (id text primary key)");
      try (var app = Apps.start(database, Shop.class, NO_AUTO_COMMIT, jpa)) {
        TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
        List<Throwable> errors = new ArrayList<>();
        TransactionTemplate own = transaction(app);
        own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        TransactionSynchronization late =
            new TransactionSynchronization() {
              @Override
              public void afterCommit() {
                errors.add(catchThrowable(() -> outbox.publish(created("late"))));
                own.executeWithoutResult(status -> outbox.publish(created("own")));
                errors.add(catchThrowable(() -> outbox.publish(created("later"))));
              }

              @Override
              public void afterCompletion(int status) {
                errors.add(catchThrowable(() -> outbox.publish(created("latest"))));
              }
            };
        transaction(app)
            .executeWithoutResult(
                status -> TransactionSynchronizationManager.registerSynchronization(late));
        assertThat(errors)
            .hasSize(3)
            .allSatisfy(
                error ->
                    assertThat(error)
                        .isInstanceOf(OutsideTransactionException.class)
                        .hasMessageContaining("REQUIRES_NEW"));
        transaction(app).executeWithoutResult(status -> outbox.publish(created("next")));
      }
      assertThat(database.column(PAYLOADS))
          .containsExactly("{\"orderId\":\"own\"}", "{\"orderId\":\"next\"}");
    }
  }

  /** A savepoint that ends within the listener is no transaction that ends. */
  @Test
  void afterTheCommitItIsRefusedAlsoBehindANestedTransaction() {
    TestPostgres database = Apps.database();
    database.execute("create table purchase (id text primary key)");
    try (var app = Apps.start(database, Shop.class, NO_AUTO_COMMIT, Apps.NO_JPA)) {
      TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
      TransactionTemplate nested = transaction(app);
      nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
      List<Throwable> errors = new ArrayList<>();
      TransactionSynchronization late =
          new TransactionSynchronization() {
            @Override
            public void afterCommit() {
              nested.executeWithoutResult(status -> {});
              errors.add(catchThrowable(() -> outbox.publish(created("late"))));
              nested.executeWithoutResult(TransactionStatus::setRollbackOnly);
              errors.add(catchThrowable(() -> outbox.publish(created("later"))));
            }
          };
      transaction(app)
          .executeWithoutResult(
              status -> {
                outbox.publish(created("before"));
                nested.executeWithoutResult(inner -> outbox.publish(created("nested")));
                outbox.publish(created("behind"));
                TransactionSynchronizationManager.registerSynchronization(late);
              });
      assertThat(errors)
          .hasSize(2)
          .allSatisfy(error -> assertThat(error).isInstanceOf(OutsideTransactionException.class));
    }
    assertThat(database.column(PAYLOADS))
        .containsExactlyInAnyOrder(
            "{\"orderId\":\"before\"}", "{\"orderId\":\"nested\"}", "{\"orderId\":\"behind\"}");
  }
}
