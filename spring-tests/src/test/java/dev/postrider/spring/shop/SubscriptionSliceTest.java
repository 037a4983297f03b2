package dev.postrider.spring.shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Outcome;
import dev.postrider.spring.ManualRelay.Delivery;
import dev.postrider.spring.OutboxHandler;
import dev.postrider.spring.test.OutboxTest;
import dev.postrider.spring.test.TestOutbox;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** In a test a message goes to all subscriptions of its topic. */
@Tag("OP-5")
@Tag("EN-23")
@OutboxTest
@Import({Orders.class, Mails.class, SubscriptionSliceTest.Counter.class})
class SubscriptionSliceTest {
  @Autowired Orders orders;
  @Autowired Mails mails;
  @Autowired Counter counter;
  @Autowired TestOutbox outbox;

  private final String id = UUID.randomUUID().toString();

  static class Counter {
    final List<String> counted = new CopyOnWriteArrayList<>();

    @OutboxHandler(namespace = "shop", topic = "orders", subscription = "count", name = "count")
    void count(OrderCreated event) {
      counted.add(event.orderId());
    }
  }

  @DynamicPropertySource
  static void database(DynamicPropertyRegistry properties) {
    properties.add("spring.datasource.url", ShopApplication.database()::jdbcUrl);
  }

  @Test
  void oneThatFailsIsCalledAgainAndTheOtherIsNot() {
    mails.broken = true;
    orders.create(id);
    List<Delivery> first = outbox.deliver();
    assertThat(first).extracting(Delivery::destination).containsExactly("mails", "count");
    assertThat(first.get(0).outcome()).isInstanceOf(Outcome.Retryable.class);
    assertThat(first.get(1).delivered()).isTrue();
    mails.broken = false;
    assertThat(outbox.deliver())
        .singleElement()
        .satisfies(
            delivery -> {
              assertThat(delivery.destination()).isEqualTo("mails");
              assertThat(delivery.delivered()).isTrue();
            });
    assertThat(outbox.deliver()).isEmpty();
    assertThat(counter.counted).containsExactly(id);
    assertThat(mails.attempts).containsExactly(id + " 1", id + " 2");
  }
}
