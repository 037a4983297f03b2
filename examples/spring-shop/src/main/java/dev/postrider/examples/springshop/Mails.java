package dev.postrider.examples.springshop;

import dev.postrider.spring.OutboxHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** Stands for a mail server: writes each mail down. */
@Component
class Mails {
  private static final Logger log = LoggerFactory.getLogger(Mails.class);

  private final JdbcTemplate jdbc;

  Mails(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /**
   * Gets every order, as the broker does, and neither waits for the other. Once: a repeated
   * delivery sends no second mail.
   */
  @OutboxHandler(
      namespace = "shop",
      topic = "orders",
      subscription = "mails",
      name = "mails",
      once = true)
  void confirm(OrderCreated order) {
    jdbc.update("insert into mails (order_id) values (?)", order.orderId());
    log.info("confirmed order {}", order.orderId());
  }
}
