package dev.postrider.cli.destination;

import java.util.List;
import java.util.Optional;

/** The kinds there are. */
public final class DestinationTypes {
  private static final List<DestinationType> ALL =
      List.of(
          new LogType(), new RabbitType(), new KafkaType(), new WebhookType(), new StreamType());

  private DestinationTypes() {}

  public static Optional<DestinationType> named(String name) {
    return ALL.stream().filter(type -> type.name().equals(name)).findFirst();
  }

  public static List<String> names() {
    return ALL.stream().map(DestinationType::name).toList();
  }
}
