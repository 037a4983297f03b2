package dev.postrider.rabbitmq;

import dev.postrider.message.PostriderException;
import java.util.List;

/** The broker has something otherwise than the topology says, or would not let it be declared. */
public final class TopologyException extends PostriderException {
  private static final long serialVersionUID = 1L;

  private final List<String> differences;

  TopologyException(List<String> differences) {
    super("RabbitMQ topology: " + String.join("; ", differences));
    this.differences = List.copyOf(differences);
  }

  /** One for each thing that differs: what was asked for, and what the broker has. */
  public List<String> differences() {
    return differences;
  }
}
