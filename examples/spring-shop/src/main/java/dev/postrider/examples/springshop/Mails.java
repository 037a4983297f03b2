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

  /** Once: a repeated delivery sends no second mail. */
  @OutboxHandler(namespace = "shop", topic = "confirmations", name = "mails", once = true)
  void confirm(Confirmation confirmation) {
    jdbc.update("insert into mails (order_id) values (?)", confirmation.orderId());
    log.info("confirmed order {}", confirmation.orderId());
  }
}
