package dev.postrider.spring.shop;

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

  @Transactional
  public void create(String id) {
    jdbc.update("insert into orders (id) values (?)", id);
    outbox.publish(
        NewMessage.to("shop", "orders")
            .key("all")
            .eventType("created")
            .json(new OrderCreated(id))
            .build());
    if (id.startsWith("bad")) {
      throw new IllegalArgumentException("a bad order");
    }
  }

  @Transactional
  public void lose(String id) {
    outbox.publish(NewMessage.to("shop", "losses").json(new OrderCreated(id)).build());
  }
}
