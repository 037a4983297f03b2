package dev.postrider.rabbitmq;

import dev.postrider.envelope.Envelope;
import dev.postrider.internal.envelope.Template;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How messages are published. Immutable.
 *
 * @param exchange the exchange's name, with fields of the message in braces
 * @param channels how many channels share the messages; a key's are always on the same one
 * @param confirmTimeout how long the broker may take to confirm; must be shorter than the
 *     destination's timeout in the relay
 * @param mandatory whether a message that no queue gets counts as failed; if not, it is lost
 * @param pipelining whether a key's messages are published without waiting for the one before. It
 *     is faster for few keys, and if the broker refuses one in the middle, those behind it arrive
 *     before it
 * @param maxMessageBytes a larger body is dead at once; should not be more than the broker's {@code
 *     max_message_size}
 * @param topology declared on every new connection; what differs is logged, and the rest used
 */
public record RabbitConfig(
    Broker broker,
    Template exchange,
    Template routingKey,
    Envelope envelope,
    int channels,
    Duration confirmTimeout,
    boolean mandatory,
    boolean pipelining,
    int maxMessageBytes,
    Topology topology) {

  public RabbitConfig {
    new Violations()
        .check(channels >= 1 && channels <= 64, "channels 1..64", channels)
        .range("confirmTimeout", confirmTimeout, Duration.ofMillis(10), Duration.ofMinutes(30))
        .check(
            maxMessageBytes >= 1 && maxMessageBytes <= 128 << 20,
            "maxMessageBytes 1.." + (128 << 20),
            maxMessageBytes)
        .check(!exchange.toString().isBlank(), "an exchange", "none")
        .report("RabbitMQ destination");
  }

  /** The same to another broker, or to the same by another way. */
  public RabbitConfig withBroker(Broker value) {
    return new RabbitConfig(
        value,
        exchange,
        routingKey,
        envelope,
        channels,
        confirmTimeout,
        mandatory,
        pipelining,
        maxMessageBytes,
        topology);
  }

  public static Builder to(Broker broker) {
    return new Builder(broker);
  }

  /** Collects the settings of a destination. Not thread-safe. */
  public static final class Builder {
    private final Broker broker;
    private @Nullable Template exchange;
    private Template routingKey = Template.of("{aggregate_type}.{event_type}");
    private Envelope envelope = Envelope.standard();
    private int channels = 4;
    private Duration confirmTimeout = Duration.ofSeconds(20);
    private boolean mandatory = true;
    private boolean pipelining;
    private int maxMessageBytes = 16 << 20;
    private Topology topology = Topology.builder().build();

    private Builder(Broker broker) {
      this.broker = broker;
    }

    public Builder exchange(String template) {
      exchange = Template.of(template);
      return this;
    }

    public Builder routingKey(String template) {
      routingKey = Template.of(template);
      return this;
    }

    public Builder envelope(Envelope value) {
      envelope = value;
      return this;
    }

    public Builder channels(int value) {
      channels = value;
      return this;
    }

    public Builder confirmTimeout(Duration value) {
      confirmTimeout = value;
      return this;
    }

    public Builder mandatory(boolean value) {
      mandatory = value;
      return this;
    }

    public Builder pipelining(boolean value) {
      pipelining = value;
      return this;
    }

    public Builder maxMessageBytes(int value) {
      maxMessageBytes = value;
      return this;
    }

    /** What to declare whenever a connection is made; nothing unless set. */
    public Builder topology(Topology value) {
      topology = value;
      return this;
    }

    /** Fails with everything that is wrong. */
    public RabbitConfig build() {
      return new RabbitConfig(
          broker,
          exchange == null ? Template.of("") : exchange,
          routingKey,
          envelope,
          channels,
          confirmTimeout,
          mandatory,
          pipelining,
          maxMessageBytes,
          topology);
    }
  }
}
