package dev.postrider.examples.springshop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.spring.ManualRelay.Delivery;
import dev.postrider.spring.test.OutboxTest;
import dev.postrider.spring.test.TestOutbox;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.transaction.annotation.Transactional;

/** What an order publishes, and what the handler does. Rolls back; needs no broker. */
@Tag("OP-5")
@OutboxTest
@Transactional
@Import({Orders.class, Mails.class})
class OrdersTest {
  @Autowired Orders orders;
  @Autowired TestOutbox outbox;
  @Autowired JdbcTemplate jdbc;

  @DynamicPropertySource
  static void servers(DynamicPropertyRegistry properties) {
    properties.add("spring.datasource.url", Servers.database()::jdbcUrl);
  }

  @Test
  void anOrderIsAnnouncedAndConfirmed() {
    orders.create("1", 500);
    assertThat(outbox)
        .published("shop", "orders")
        .withKey("1")
        .withEventType("created")
        .withPayload(new OrderCreated("1", 500))
        .once();
    assertThat(outbox.deliver()).singleElement().matches(Delivery::delivered);
    assertThat(jdbc.queryForList("select order_id from mails", String.class)).containsExactly("1");
  }

  @Test
  void aBadOrderFails() {
    assertThatThrownBy(() -> orders.create("2", 0)).hasMessageContaining("must cost");
  }
}
