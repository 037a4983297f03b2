package dev.postrider.rabbitmq;

import dev.postrider.message.PostriderException;
import java.util.List;

/** The broker has something otherwise than the topology says, or would not let it be declared. */
public final class TopologyException extends PostriderException {
  private static final long serialVersionUID = 1L;

  private final List<String> differences;
  private final boolean losesDeadLetters;

  TopologyException(List<String> differences, boolean losesDeadLetters) {
    super(
        "RabbitMQ topology: "
            + String.join("; ", differences)
            + (losesDeadLetters ? "; dead letters would be lost: no queue is bound for them" : ""));
    this.differences = List.copyOf(differences);
    this.losesDeadLetters = losesDeadLetters;
  }

  /** One for each thing that differs: what was asked for, and what the broker has. */
  public List<String> differences() {
    return differences;
  }

  /** Whether the broker would drop what a queue rejects, because no queue is bound for it. */
  public boolean losesDeadLetters() {
    return losesDeadLetters;
  }
}
