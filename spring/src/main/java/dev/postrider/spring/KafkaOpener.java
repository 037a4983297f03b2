package dev.postrider.spring;

import dev.postrider.destination.Destination;
import dev.postrider.kafka.KafkaConfig;
import dev.postrider.kafka.KafkaDestination;
import dev.postrider.spring.DestinationProperties.EnvelopeName;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/** Loaded only if the module for Kafka is there. */
final class KafkaOpener {
  private KafkaOpener() {}

  static Destination open(
      String key,
      DestinationProperties settings,
      SpringBrokers brokers,
      @Nullable SslBundle bundle) {
    return KafkaDestination.open(config(key, settings, brokers, bundle));
  }

  static KafkaConfig config(
      String key,
      DestinationProperties settings,
      SpringBrokers brokers,
      @Nullable SslBundle bundle) {
    List<String> servers = settings.bootstrapServers();
    Map<String, String> properties = new TreeMap<>();
    if (servers.isEmpty()) {
      Map<?, ?> spring = brokers.kafka();
      servers = servers(key, spring.get("bootstrap.servers"));
      properties.putAll(KafkaSecurity.of(spring));
    }
    if (bundle != null) {
      properties.putAll(KafkaSecurity.of(bundle));
      KafkaSecurity.useTls(properties);
    }
    properties.putAll(settings.properties());
    return KafkaConfig.builder(String.join(",", servers))
        .topic(settings.topic())
        .envelope(Destinations.envelope(key, settings, EnvelopeName.PAYLOAD))
        .deliveryTimeout(settings.deliveryTimeout())
        .maxBlock(settings.maxBlock())
        .bufferMemory(settings.bufferMemory().toBytes())
        .deadAtOnce(settings.deadAtOnce().toArray(String[]::new))
        .properties(properties)
        .build();
  }

  private static List<String> servers(String key, @Nullable Object spring) {
    if (spring == null) {
      throw new StartException(
          key + " says nothing about where Kafka is, and Spring knows none.",
          "Set %s.bootstrap-servers, or add Spring for Apache Kafka and set spring.kafka.*."
              .formatted(key));
    }
    return spring instanceof Collection<?> many
        ? many.stream().map(String::valueOf).toList()
        : List.of(String.valueOf(spring));
  }
}
