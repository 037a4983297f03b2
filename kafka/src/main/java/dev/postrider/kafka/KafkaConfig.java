package dev.postrider.kafka;

import dev.postrider.envelope.Envelope;
import dev.postrider.internal.envelope.Template;
import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Where records go and what they look like. Says all that is wrong with it at once, and never what
 * a secret is. Immutable.
 */
public final class KafkaConfig {
  private final Template topic;
  private final Envelope envelope;
  private final Duration deliveryTimeout;
  private final Duration maxBlock;
  private final Set<String> deadAtOnce;
  private final Map<String, String> settings;

  private KafkaConfig(Builder builder, Template topic, Map<String, String> settings) {
    this.topic = topic;
    this.envelope = builder.envelope;
    this.deliveryTimeout = builder.deliveryTimeout;
    this.maxBlock = builder.maxBlock;
    this.deadAtOnce = Set.copyOf(builder.deadAtOnce);
    this.settings = Map.copyOf(settings);
  }

  /**
   * Begins a configuration.
   *
   * @param bootstrapServers {@code host:port}, several separated by commas
   */
  public static Builder builder(String bootstrapServers) {
    return new Builder(bootstrapServers);
  }

  Template topic() {
    return topic;
  }

  Envelope envelope() {
    return envelope;
  }

  Duration deliveryTimeout() {
    return deliveryTimeout;
  }

  Duration maxBlock() {
    return maxBlock;
  }

  Set<String> deadAtOnce() {
    return deadAtOnce;
  }

  /** Everything the client is given. */
  Map<String, String> settings() {
    return settings;
  }

  String bootstrapServers() {
    return settings.getOrDefault(ProducerSettings.BOOTSTRAP, "");
  }

  /** Without the values of properties: some are secrets. */
  @Override
  public String toString() {
    return "KafkaConfig[bootstrapServers="
        + bootstrapServers()
        + ", topic="
        + topic
        + ", deliveryTimeout="
        + deliveryTimeout
        + "]";
  }

  /** Collects a configuration. Not thread-safe. */
  public static final class Builder {
    final String bootstrapServers;
    private String topic = "{namespace}.{topic}";
    private Envelope envelope = Envelope.payload();
    Duration deliveryTimeout = Duration.ofSeconds(20);
    Duration maxBlock = Duration.ofSeconds(2);
    long bufferMemory = 64L << 20;
    private final Set<String> deadAtOnce = new TreeSet<>();
    final Map<String, String> properties = new TreeMap<>();

    private Builder(String bootstrapServers) {
      this.bootstrapServers = bootstrapServers;
    }

    /** The topic's name, with fields of the message in braces; <code>{namespace}.{topic}</code>. */
    public Builder topic(String template) {
      this.topic = template;
      return this;
    }

    /** What the body looks like; the bare payload unless set. */
    public Builder envelope(Envelope value) {
      this.envelope = value;
      return this;
    }

    /**
     * How long the client tries to deliver a record. Must be shorter than the destination's timeout
     * in {@link dev.postrider.destination.DestinationOptions}, or messages would be sent again
     * while the client still tries.
     */
    public Builder deliveryTimeout(Duration value) {
      this.deliveryTimeout = value;
      return this;
    }

    /** How long to wait for a topic's metadata, or for room in the buffer. */
    public Builder maxBlock(Duration value) {
      this.maxBlock = value;
      return this;
    }

    /** Bytes of records that wait to be sent. */
    public Builder bufferMemory(long bytes) {
      this.bufferMemory = bytes;
      return this;
    }

    /**
     * Errors that end a message at the first attempt instead of being retried, by their codes:
     * {@code kafka_topic_authorization}, {@code kafka_unknown_topic}. For systems where both are
     * mistakes of the producer and nobody will mend them.
     */
    public Builder deadAtOnce(String... codes) {
      deadAtOnce.addAll(List.of(codes));
      return this;
    }

    /** A setting of Kafka's producer, such as those of TLS and SASL. */
    public Builder property(String name, String value) {
      properties.put(name, value);
      return this;
    }

    /** Several settings of Kafka's producer. */
    public Builder properties(Map<String, String> values) {
      properties.putAll(values);
      return this;
    }

    /** Fails with everything that is wrong. */
    public KafkaConfig build() {
      List<String> wrong = new ArrayList<>();
      Template template = template(wrong);
      for (String code : deadAtOnce) {
        if (!KafkaErrors.MAY_BE_TERMINAL.contains(code)) {
          wrong.add(
              "deadAtOnce: expected one of %s, got \"%s\""
                  .formatted(KafkaErrors.MAY_BE_TERMINAL, code));
        }
      }
      Map<String, String> settings = ProducerSettings.of(this, wrong);
      if (template == null || !wrong.isEmpty()) {
        throw new PostriderException("kafka: " + String.join("; ", wrong));
      }
      return new KafkaConfig(this, template, settings);
    }

    private @Nullable Template template(List<String> wrong) {
      try {
        return Template.of(topic);
      } catch (PostriderException e) {
        wrong.add("topic: " + e.getMessage());
        return null;
      }
    }
  }
}
