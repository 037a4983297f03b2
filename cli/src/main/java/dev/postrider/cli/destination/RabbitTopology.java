package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Section;
import dev.postrider.rabbitmq.Topology;
import dev.postrider.rabbitmq.Topology.QueueType;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code topology}: what the broker should have. Used by one thread. */
final class RabbitTopology {
  private static final Topology NOTHING = Topology.builder().build();

  private final Topology.Builder topology = Topology.builder();
  private final Set<String> exchanges = new LinkedHashSet<>();
  private final Set<String> queues = new LinkedHashSet<>();

  private RabbitTopology() {}

  static Topology read(Section destination) {
    RabbitTopology read = new RabbitTopology();
    try (Section section = destination.section("topology")) {
      each(section.items("exchanges"), read::exchange);
      each(section.items("queues"), read::queue);
      each(section.items("bindings"), read::binding);
      each(section.items("dead-letters"), read::deadLetters);
      @Nullable Topology made = Checks.made(section, "", read.topology::build);
      return made == null ? NOTHING : made;
    }
  }

  private interface Reader {
    void read(Section item);
  }

  private static void each(List<Section> items, Reader reader) {
    for (Section item : items) {
      try (item) {
        reader.read(item);
      }
    }
  }

  private void exchange(Section item) {
    String name = item.required("name");
    topology.exchange(name, item.text("type", "topic"));
    if (!exchanges.add(name)) {
      item.problem("name", "the exchange \"" + name + "\" is here twice");
    }
  }

  private void queue(Section item) {
    String name = item.required("name");
    QueueType type = item.choice("type", QueueType.QUORUM);
    Map<String, Object> arguments = new LinkedHashMap<>();
    item.properties("arguments", '-').forEach((key, value) -> arguments.put(key, typed(value)));
    if (queues.add(name)) {
      topology.queue(name, type, arguments);
    } else {
      item.problem("name", "the queue \"" + name + "\" is here twice");
    }
  }

  /** The broker tells numbers from texts. */
  private static Object typed(String value) {
    if (value.matches("-?\\d{1,18}")) {
      return Long.valueOf(value);
    }
    return value.matches("true|false") ? (Object) Boolean.valueOf(value) : value;
  }

  private void binding(Section item) {
    String queue = known(item, "queue", item.required("queue"), queues);
    String exchange = known(item, "exchange", item.required("exchange"), exchanges);
    String routingKey = item.text("routing-key", "#");
    if (!queue.isEmpty() && !exchange.isEmpty()) {
      topology.bind(queue, exchange, routingKey);
    }
  }

  private void deadLetters(Section item) {
    String exchange = known(item, "exchange", item.required("exchange"), exchanges);
    for (String queue : item.texts("queues")) {
      if (!known(item, "queues", queue, queues).isEmpty() && !exchange.isEmpty()) {
        topology.deadLetters(exchange, queue);
      }
    }
  }

  /** The name; an empty one, after noting it, if there is nothing of that name. */
  private static String known(Section item, String key, String name, Set<String> names) {
    if (name.isEmpty() || names.contains(name)) {
      return name;
    }
    item.problem(
        key,
        "\"%s\" is not among those of this topology; there are %s"
            .formatted(name, names.isEmpty() ? "none" : String.join(", ", names)));
    return "";
  }
}
