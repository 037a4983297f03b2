package dev.postrider.spring;

import dev.postrider.destination.Destination;
import dev.postrider.kafka.KafkaConfig;
import dev.postrider.kafka.KafkaDestination;
import dev.postrider.spring.DestinationProperties.EnvelopeName;
import java.util.List;

/** Loaded only if the module for Kafka is there. */
final class KafkaOpener {
  private KafkaOpener() {}

  static Destination open(String key, DestinationProperties settings, SpringBrokers brokers) {
    List<String> servers =
        settings.bootstrapServers().isEmpty() ? brokers.kafka() : settings.bootstrapServers();
    if (servers.isEmpty()) {
      throw new StartException(
          key + " says nothing about where Kafka is, and Spring knows none.",
          "Set %s.bootstrap-servers, or add Spring for Apache Kafka and set spring.kafka.*."
              .formatted(key));
    }
    return KafkaDestination.open(
        KafkaConfig.builder(String.join(",", servers))
            .topic(settings.topic())
            .envelope(Destinations.envelope(key, settings, EnvelopeName.PAYLOAD))
            .deliveryTimeout(settings.deliveryTimeout())
            .maxBlock(settings.maxBlock())
            .bufferMemory(settings.bufferMemory().toBytes())
            .deadAtOnce(settings.deadAtOnce().toArray(String[]::new))
            .properties(settings.properties())
            .build());
  }
}
