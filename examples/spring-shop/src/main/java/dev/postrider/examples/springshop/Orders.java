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

  /** The order, its event for other systems and the mail to the customer: all three or none. */
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
    outbox.publish(NewMessage.to("shop", "confirmations").json(new Confirmation(id)).build());
    if (cents <= 0) {
      throw new IllegalArgumentException("an order must cost something");
    }
  }
}
