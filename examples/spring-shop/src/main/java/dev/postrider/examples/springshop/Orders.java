package dev.postrider.examples.springshop;

import dev.postrider.message.NewMessage;
import dev.postrider.spring.TransactionalOutbox;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
class Orders {
  private final JdbcTemplate jdbc;
  private final TransactionalOutbox outbox;

  Orders(JdbcTemplate jdbc, TransactionalOutbox outbox) {
    this.jdbc = jdbc;
    this.outbox = outbox;
  }

  /** The order and its event, for other systems and for the mail to the customer: both or none. */
  @Transactional
  public void create(String id, long cents) {
    jdbc.update("insert into orders (id, cents) values (?, ?)", id, cents);
    outbox.publish(
        NewMessage.to("shop", "orders")
            .key(id)
            .aggregate("order", id)
            .eventType("created")
            .json(new OrderCreated(id, cents))
            .build());
    if (cents <= 0) {
      throw new IllegalArgumentException("an order must cost something");
    }
  }
}
