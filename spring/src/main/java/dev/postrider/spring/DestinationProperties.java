package dev.postrider.spring;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * One destination. Which settings apply depends on the type. Immutable.
 *
 * @param type Kind of destination: rabbitmq, kafka, webhook or stream.
 * @param timeout Time for one message, from handing over to answer.
 * @param concurrency Messages handed over and not yet answered, at most.
 * @param maxInFlight Messages claimed and not yet settled, at most.
 * @param maxBytesInFlight Payload bytes claimed and not yet settled, at most.
 * @param breaker When to stop sending to the destination for a while.
 * @param envelope Format: payload, standard, cloudevents-binary or cloudevents-structured.
 * @param source Source of CloudEvents, such as /shop.
 * @param sslBundle RabbitMQ, Kafka, webhook: name of the SSL bundle (spring.ssl.bundle.*) for TLS.
 * @param connectTimeout RabbitMQ, webhook: time for connecting.
 * @param addresses RabbitMQ: brokers as host:port. Without addresses and uri, Spring's own
 *     addresses, login and TLS (spring.rabbitmq.*) are used.
 * @param uri RabbitMQ: address as amqp:// or amqps:// URI.
 * @param virtualHost RabbitMQ: virtual host.
 * @param user RabbitMQ: user name.
 * @param password RabbitMQ: password.
 * @param connectionName RabbitMQ: name of the connection, which the broker shows.
 * @param heartbeat RabbitMQ: interval of heartbeats.
 * @param exchange RabbitMQ: exchange, may contain templates.
 * @param routingKey RabbitMQ: template of the routing key. Its default has fields that every
 *     message has.
 * @param mandatory RabbitMQ: whether a message that no queue takes is an error.
 * @param confirmTimeout RabbitMQ: time for the broker's confirmation.
 * @param channels RabbitMQ: channels that messages are spread over.
 * @param pipelining RabbitMQ: whether messages of one key are sent without waiting for the
 *     confirmation of the one before.
 * @param maxMessageBytes RabbitMQ: largest message that the broker takes.
 * @param topology RabbitMQ: exchanges, queues and bindings to declare.
 * @param bootstrapServers Kafka: brokers as host:port. Without them, Spring's own addresses, login
 *     and TLS (spring.kafka.*) are used.
 * @param topic Kafka: template of the topic.
 * @param deliveryTimeout Kafka: time for the brokers' acknowledgement.
 * @param maxBlock Kafka: how long sending may block.
 * @param bufferMemory Kafka: memory for messages that are not yet sent.
 * @param deadAtOnce Kafka: error codes after which a message is dead at once.
 * @param properties Kafka: further properties of the client.
 * @param url Webhook: where requests go.
 * @param keys Webhook: keys that sign requests.
 * @param unsigned Webhook: whether requests are sent without a signature.
 * @param allowHosts Webhook: hosts that may have private addresses.
 * @param allowNets Webhook: private networks that may be reached.
 * @param headers Webhook: headers to send with each request.
 * @param sendHeaders Webhook: headers of messages to send, or * for all.
 * @param requests Webhook: requests at the same time.
 * @param deadline Webhook: time for one request.
 * @param responseTimeout Webhook: time for the first byte of the response.
 * @param retryAfterMax Webhook: upper bound for Retry-After.
 */
public record DestinationProperties(
    String type,
    @DefaultValue("30s") Duration timeout,
    @DefaultValue("1000") int concurrency,
    @DefaultValue("4000") int maxInFlight,
    @DefaultValue("16MB") DataSize maxBytesInFlight,
    @DefaultValue Breaker breaker,
    @Nullable EnvelopeName envelope,
    @Nullable String source,
    @Nullable String sslBundle,
    @DefaultValue("5s") Duration connectTimeout,
    @DefaultValue List<String> addresses,
    @Nullable String uri,
    @Nullable String virtualHost,
    @Nullable String user,
    @Nullable String password,
    @DefaultValue("postrider") String connectionName,
    @DefaultValue("5s") Duration heartbeat,
    @Nullable String exchange,
    @DefaultValue("{namespace}.{topic}") String routingKey,
    @DefaultValue("true") boolean mandatory,
    @DefaultValue("20s") Duration confirmTimeout,
    @DefaultValue("4") int channels,
    @DefaultValue("false") boolean pipelining,
    @DefaultValue("16MB") DataSize maxMessageBytes,
    @DefaultValue TopologyProperties topology,
    @DefaultValue List<String> bootstrapServers,
    @DefaultValue("{namespace}.{topic}") String topic,
    @DefaultValue("20s") Duration deliveryTimeout,
    @DefaultValue("2s") Duration maxBlock,
    @DefaultValue("64MB") DataSize bufferMemory,
    @DefaultValue List<String> deadAtOnce,
    @DefaultValue Map<String, String> properties,
    @Nullable String url,
    @DefaultValue List<String> keys,
    @DefaultValue("false") boolean unsigned,
    @DefaultValue List<String> allowHosts,
    @DefaultValue List<String> allowNets,
    @DefaultValue Map<String, String> headers,
    @DefaultValue List<String> sendHeaders,
    @DefaultValue("64") int requests,
    @DefaultValue("20s") Duration deadline,
    @DefaultValue("15s") Duration responseTimeout,
    @DefaultValue("1h") Duration retryAfterMax) {

  /**
   * When to stop sending to a destination for a while.
   *
   * @param failures Consecutive failures that open the breaker.
   * @param openMin First pause before a probe.
   * @param openMax Longest pause.
   */
  public record Breaker(
      @DefaultValue("20") int failures,
      @DefaultValue("1s") Duration openMin,
      @DefaultValue("30s") Duration openMax) {}

  /** Formats of messages. */
  public enum EnvelopeName {
    /** The payload alone. */
    PAYLOAD,
    /** JSON with the fields of the message. */
    STANDARD,
    /** CloudEvents with attributes in headers. */
    CLOUDEVENTS_BINARY,
    /** CloudEvents as one JSON document. */
    CLOUDEVENTS_STRUCTURED
  }

  /** Shows no secrets. */
  @Override
  public String toString() {
    return "destination of type " + type;
  }
}
