package dev.postrider.rabbitmq;

import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;

/**
 * What the broker should have: durable exchanges and queues, and how they are bound. Declaring it
 * changes nothing that is there already, and fails if what is there differs. Immutable.
 */
public record Topology(List<Exchange> exchanges, List<Queue> queues, List<Binding> bindings) {
  private static final int CLOSE_MILLIS = 2_000;

  /** How a queue keeps its messages. */
  public enum QueueType {
    CLASSIC,
    /** Replicated; counts its deliveries. */
    QUORUM;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** An exchange, such as of type {@code topic}. */
  public record Exchange(String name, String type) {}

  /** A queue; the arguments are those of the broker, such as {@code x-max-length}. */
  public record Queue(String name, QueueType type, Map<String, Object> arguments) {
    public Queue {
      arguments = Map.copyOf(arguments);
    }
  }

  /** Which messages of an exchange a queue gets. */
  public record Binding(String queue, String exchange, String routingKey) {}

  public Topology {
    exchanges = List.copyOf(exchanges);
    queues = List.copyOf(queues);
    bindings = List.copyOf(bindings);
    List<String> exchangeNames = exchanges.stream().map(Exchange::name).toList();
    List<String> queueNames = queues.stream().map(Queue::name).toList();
    Violations wrong = new Violations();
    unique(wrong, "exchange", exchangeNames);
    unique(wrong, "queue", queueNames);
    for (Binding binding : bindings) {
      wrong.check(exchangeNames.contains(binding.exchange()), "a declared exchange", binding);
      wrong.check(queueNames.contains(binding.queue()), "a declared queue", binding);
      wrong.check(
          Violations.fits(binding.routingKey()), "a routing key of 255 bytes at most", binding);
    }
    for (Queue queue : queues) {
      Optional<DeadLetterPath> path = DeadLetterPath.of(queue);
      wrong.check(
          path.isEmpty() || path.get().leadsSomewhere(exchanges, queues, bindings),
          path.map(DeadLetterPath::expected).orElse(""),
          queue);
    }
    wrong.report("RabbitMQ topology");
  }

  /** Whether a queue is bound for what goes this way; else the broker drops it. */
  boolean keeps(DeadLetterPath path) {
    return path.leadsSomewhere(exchanges, queues, bindings);
  }

  private static void unique(Violations wrong, String what, List<String> names) {
    for (String name : names) {
      wrong.name("a name of an " + what, name);
      wrong.check(names.indexOf(name) == names.lastIndexOf(name), what + " once", name + " twice");
    }
  }

  public static Builder builder() {
    return new Builder();
  }

  /**
   * Declares everything, in any state of the broker, as often as you like.
   *
   * @throws TopologyException names each thing that the broker has otherwise, after the rest has
   *     been declared; and says whether dead letters would be lost
   */
  public void declare(Connection connection) {
    Declaring.on(connection, this);
  }

  /** The same on a connection of its own. */
  public void declare(Broker broker) {
    try (NettyConnections connections = new NettyConnections(broker)) {
      Connection connection = connections.open(null).connection();
      try {
        declare(connection);
      } finally {
        connection.abort(CLOSE_MILLIS);
      }
    } catch (IOException | TimeoutException e) {
      throw new TopologyException(
          List.of("no connection to " + broker + ": " + Replies.text(e)), false);
    }
  }

  /** Collects a topology. Not thread-safe. */
  public static final class Builder {
    private final List<Exchange> exchanges = new ArrayList<>();
    private final Map<String, Queue> queues = new LinkedHashMap<>();
    private final List<Binding> bindings = new ArrayList<>();
    private final List<String> twice = new ArrayList<>();

    private Builder() {}

    public Builder exchange(String name, String type) {
      exchanges.add(new Exchange(name, type));
      return this;
    }

    public Builder queue(String name, QueueType type) {
      return queue(name, type, Map.of());
    }

    public Builder queue(String name, QueueType type, Map<String, Object> arguments) {
      if (queues.put(name, new Queue(name, type, arguments)) != null) {
        twice.add(name);
      }
      return this;
    }

    public Builder bind(String queue, String exchange, String routingKey) {
      bindings.add(new Binding(queue, exchange, routingKey));
      return this;
    }

    /**
     * What consumers of these queues reject, or what expires in them, goes through the direct
     * exchange {@code <exchange>.dlx} by the key {@code <queue>.dlq} into the queue {@code
     * <queue>.dlq}, which is of the same type. That one is bound by {@code <queue>} as well, for
     * queues that were declared with that key.
     */
    public Builder deadLetters(String exchange, String... deadLettered) {
      String dlx = exchange + ".dlx";
      if (exchanges.stream().noneMatch(e -> e.name().equals(dlx))) {
        exchange(dlx, "direct");
      }
      for (String name : deadLettered) {
        Queue queue = queues.get(name);
        if (queue == null) {
          new Violations()
              .check(false, "a declared queue to dead-letter from", name)
              .report("RabbitMQ topology");
          continue;
        }
        Map<String, Object> arguments = new TreeMap<>(queue.arguments());
        String dlq = name + ".dlq";
        arguments.put(DeadLetterPath.EXCHANGE, dlx);
        arguments.put(DeadLetterPath.KEY, dlq);
        queues.put(name, new Queue(name, queue.type(), arguments));
        queue(dlq, queue.type());
        bind(dlq, dlx, dlq);
        bind(dlq, dlx, name);
      }
      return this;
    }

    /** Fails with everything that is wrong. */
    public Topology build() {
      new Violations()
          .check(twice.isEmpty(), "each queue once", twice + " twice")
          .report("RabbitMQ topology");
      return new Topology(exchanges, List.copyOf(queues.values()), bindings);
    }
  }
}
