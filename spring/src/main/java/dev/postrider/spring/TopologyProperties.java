package dev.postrider.spring;

import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What a RabbitMQ broker should have. It is declared when the relay connects. Immutable.
 *
 * @param exchanges Exchanges.
 * @param queues Queues.
 * @param bindings Bindings of queues to exchanges.
 * @param deadLetters Exchanges whose queues get a dead letter exchange and dead letter queues.
 */
public record TopologyProperties(
    @DefaultValue List<Exchange> exchanges,
    @DefaultValue List<Queue> queues,
    @DefaultValue List<Binding> bindings,
    @DefaultValue List<DeadLetters> deadLetters) {

  /** Kinds of queues. */
  public enum QueueType {
    /** Replicated. */
    QUORUM,
    /** Not replicated. */
    CLASSIC
  }

  /**
   * An exchange.
   *
   * @param name Name of the exchange.
   * @param type Type of the exchange: topic, direct, fanout or headers.
   */
  public record Exchange(String name, @DefaultValue("topic") String type) {}

  /**
   * A queue.
   *
   * @param name Name of the queue.
   * @param type Type of the queue.
   * @param arguments Further arguments, such as x-max-length.
   */
  public record Queue(
      String name,
      @DefaultValue("quorum") QueueType type,
      @DefaultValue Map<String, String> arguments) {}

  /**
   * A binding.
   *
   * @param queue Name of the queue.
   * @param exchange Name of the exchange.
   * @param routingKey Pattern of routing keys.
   */
  public record Binding(String queue, String exchange, @DefaultValue("#") String routingKey) {}

  /**
   * Queues whose refused messages are kept.
   *
   * @param exchange Exchange of the queues; the dead letter exchange has its name with .dlx.
   * @param queues Queues that get a dead letter queue, with their name and .dlq.
   */
  public record DeadLetters(String exchange, @DefaultValue List<String> queues) {}
}
