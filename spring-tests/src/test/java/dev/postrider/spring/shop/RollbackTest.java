package dev.postrider.spring.shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.spring.ManualRelay.Delivery;
import dev.postrider.spring.OutboxRelay;
import dev.postrider.spring.test.AutoConfigureTestOutbox;
import dev.postrider.spring.test.TestOutbox;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.transaction.annotation.Transactional;

/** A test of the whole application that rolls back: the same order can be created again. */
@Tag("OP-5")
@SpringBootTest
@Transactional
@AutoConfigureTestOutbox
class RollbackTest {
  @Autowired Orders orders;
  @Autowired Mails mails;
  @Autowired TestOutbox outbox;
  @Autowired ApplicationContext context;

  @DynamicPropertySource
  static void database(DynamicPropertyRegistry properties) {
    properties.add("spring.datasource.url", ShopApplication.database()::jdbcUrl);
  }

  @RepeatedTest(2)
  void whatWouldBePublishedIsAssertedAndHandled() {
    orders.create("rolled back");
    assertThat(outbox)
        .published("shop", "orders")
        .withPayload(new OrderCreated("rolled back"))
        .once();
    assertThat(outbox.deliver()).singleElement().matches(Delivery::delivered);
    assertThat(mails.attempts).endsWith("rolled back 1");
    assertThat(context.getBeanNamesForType(OutboxRelay.class)).isEmpty();
  }
}
