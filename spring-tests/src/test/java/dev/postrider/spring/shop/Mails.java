package dev.postrider.spring.shop;

import dev.postrider.spring.OutboxHandler;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

@Component
class Mails {
  final List<String> attempts = new CopyOnWriteArrayList<>();
  volatile boolean broken;
  private final JdbcTemplate jdbc;

  Mails(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  @OutboxHandler(namespace = "shop", topic = "orders", name = "mails")
  void created(OrderCreated event, int attempt) {
    attempts.add(event.orderId() + " " + attempt);
    if (broken) {
      throw new IllegalStateException("no mail server");
    }
    jdbc.update("insert into mail (id) values (?)", event.orderId());
  }
}
