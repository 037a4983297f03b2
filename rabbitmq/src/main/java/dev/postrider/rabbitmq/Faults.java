package dev.postrider.rabbitmq;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.impl.DefaultExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The client reports every lost connection twice; we report it once, with what became of it. */
final class Faults extends DefaultExceptionHandler {
  private static final Logger log = LoggerFactory.getLogger(Faults.class);

  @Override
  public void handleUnexpectedConnectionDriverException(Connection connection, Throwable fault) {
    log.debug("connection lost: {}", Replies.text(fault));
  }
}
