package dev.postrider.spring.shop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.spring.ManualRelay.Delivery;
import dev.postrider.spring.OutboxRelay;
import dev.postrider.spring.TransactionalOutbox;
import dev.postrider.spring.test.OutboxTest;
import dev.postrider.spring.test.TestOutbox;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** What {@code @OutboxTest} gives a test. All tests publish with the same key. */
@Tag("OP-5")
@OutboxTest
@Import({Orders.class, Mails.class})
class OutboxSliceTest {
  @Autowired Orders orders;
  @Autowired Mails mails;
  @Autowired TestOutbox outbox;
  @Autowired ApplicationContext context;
  @Autowired PlatformTransactionManager transactions;
  @Autowired TransactionalOutbox transactional;
  @Autowired DataSource dataSource;

  private final String id = UUID.randomUUID().toString();

  @DynamicPropertySource
  static void database(DynamicPropertyRegistry properties) {
    properties.add("spring.datasource.url", ShopApplication.database()::jdbcUrl);
  }

  @BeforeEach
  void clear() {
    mails.attempts.clear();
    mails.broken = false;
  }

  private static List<String> mailed(String id) {
    return ShopApplication.database().column("select id from mail where id = '" + id + "'");
  }

  @Test
  void theSliceHasTheOutboxAndNothingElse() {
    assertThat(context.getBeanNamesForType(Elsewhere.class)).isEmpty();
    assertThat(context.getBeanNamesForType(OutboxRelay.class)).isEmpty();
    assertThat(context.containsBean("requestMappingHandlerMapping")).isFalse();
  }

  @Test
  void whatWasPublishedIsAsserted() {
    assertThat(outbox).publishedNothing();
    orders.create(id);
    assertThat(outbox)
        .published("shop", "orders")
        .withKey("all")
        .withEventType("created")
        .withPayload(new OrderCreated(id))
        .withPayload("{\"orderId\":\"" + id + "\"}")
        .once();
    assertThat(outbox).publishedNothing("shop", "losses");
  }

  @Test
  void aFailedAssertionListsWhatWasPublished() {
    orders.create(id);
    assertThatThrownBy(() -> assertThat(outbox).published("shop", "order"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("expected a published message to shop/order.")
        .hasMessageContaining("shop/orders key=all event_type=created")
        .hasMessageContaining(id);
    assertThatThrownBy(
            () -> assertThat(outbox).published("shop", "orders").withPayload(new OrderCreated("x")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("with payload OrderCreated[orderId=x]");
    assertThatThrownBy(() -> assertThat(outbox).published("shop", "orders").times(2))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("expected 2 published messages");
    assertThatThrownBy(() -> assertThat(outbox).publishedNothing())
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void aRollbackPublishesNothing() {
    assertThatThrownBy(() -> orders.create("bad " + id)).hasMessage("a bad order");
    assertThat(outbox).publishedNothing();
    assertThat(outbox.deliver()).isEmpty();
  }

  @Test
  void theTestDeliversWhenItWantsTo() {
    orders.create(id);
    assertThat(mails.attempts).isEmpty();
    assertThat(outbox.deliver()).singleElement().matches(Delivery::delivered);
    assertThat(mails.attempts).containsExactly(id + " 1");
    assertThat(mailed(id)).hasSize(1);
    assertThat(outbox.deliver()).isEmpty();
  }

  /** The messages of other tests have the same key, and are not delivered in this one. */
  @Test
  void aFailedMessageIsDeliveredByTheNextCall() {
    mails.broken = true;
    orders.create(id + "a");
    orders.create(id + "b");
    assertThat(outbox.deliver())
        .singleElement()
        .extracting(Delivery::outcome)
        .isInstanceOf(Outcome.Retryable.class);
    mails.broken = false;
    assertThat(outbox.deliver()).hasSize(2).allMatch(Delivery::delivered);
    assertThat(mails.attempts).containsExactly(id + "a 1", id + "a 2", id + "b 1");
  }

  @Test
  void aTopicWithoutARouteIsReported() {
    orders.lose(id);
    assertThatThrownBy(outbox::deliver)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("shop/losses has no route")
        .hasMessageContaining("shop/orders to mails")
        .hasMessageContaining("@OutboxHandler(namespace = \"shop\", topic = \"losses\")");
  }

  @Test
  void whatWasRolledBackToASavepointIsNotPublished() {
    TransactionTemplate outer = new TransactionTemplate(new JdbcTransactionManager(dataSource));
    TransactionTemplate nested = new TransactionTemplate(outer.getTransactionManager());
    nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
    outer.executeWithoutResult(
        status -> {
          publish(id + " kept");
          nested.executeWithoutResult(
              inner -> {
                publish(id + " undone");
                assertThat(outbox).published("shop", "orders").times(2);
                inner.setRollbackOnly();
              });
          assertThat(outbox).published("shop", "orders").withPayload(id + " kept").once();
          assertThat(outbox).published("shop", "orders").once();
        });
    assertThat(outbox).published("shop", "orders").withPayload(id + " kept").once();
    assertThat(outbox).published("shop", "orders").once();
  }

  private void publish(String text) {
    transactional.publish(
        NewMessage.to("shop", "orders").payload(text.getBytes(UTF_8), "text/plain").build());
  }

  @Test
  void inAnOpenTransactionHandlersJoinIt() {
    new TransactionTemplate(transactions)
        .executeWithoutResult(
            status -> {
              orders.create(id);
              assertThat(outbox).published("shop", "orders").once();
              assertThat(outbox.deliver()).singleElement().matches(Delivery::delivered);
              assertThat(outbox.deliver()).isEmpty();
              status.setRollbackOnly();
            });
    assertThat(mails.attempts).containsExactly(id + " 1");
    assertThat(mailed(id)).isEmpty();
    assertThat(outbox).publishedNothing();
  }
}
