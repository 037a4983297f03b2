package dev.postrider.spring;

import dev.postrider.destination.Destination;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.rabbitmq.RabbitConfig;
import dev.postrider.rabbitmq.RabbitDestination;
import dev.postrider.rabbitmq.Topology;
import dev.postrider.spring.DestinationProperties.EnvelopeName;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Loaded only if the module for RabbitMQ is there. */
final class RabbitOpener {
  private RabbitOpener() {}

  static Destination open(
      String key, DestinationProperties settings, SpringBrokers brokers, @Nullable SSLContext tls) {
    String exchange = Destinations.given(key + ".exchange", settings.exchange(), "shop");
    return RabbitDestination.open(
        RabbitConfig.to(broker(key, settings, brokers, tls))
            .exchange(exchange)
            .routingKey(settings.routingKey())
            .envelope(Destinations.envelope(key, settings, EnvelopeName.STANDARD))
            .mandatory(settings.mandatory())
            .confirmTimeout(settings.confirmTimeout())
            .channels(settings.channels())
            .pipelining(settings.pipelining())
            .maxMessageBytes(Math.toIntExact(settings.maxMessageBytes().toBytes()))
            .topology(topology(settings.topology()))
            .build());
  }

  private static Broker broker(
      String key, DestinationProperties settings, SpringBrokers brokers, @Nullable SSLContext tls) {
    Broker.Builder broker = address(key, settings, brokers);
    credentials(broker, settings.user(), settings.password());
    if (settings.virtualHost() != null) {
      broker.virtualHost(settings.virtualHost());
    }
    if (tls != null) {
      broker.tls(tls);
    }
    return broker
        .connectionName(settings.connectionName())
        .heartbeat(settings.heartbeat())
        .connectTimeout(settings.connectTimeout())
        .build();
  }

  private static Broker.Builder address(
      String key, DestinationProperties settings, SpringBrokers brokers) {
    if (settings.uri() != null) {
      return Broker.uri(settings.uri());
    } else if (!settings.addresses().isEmpty()) {
      return Broker.at(settings.addresses().toArray(String[]::new));
    }
    SpringBrokers.Rabbit spring = brokers.rabbit();
    if (spring == null) {
      throw new StartException(
          key + " says nothing about where RabbitMQ is, and Spring knows none.",
          "Set %s.addresses or %s.uri, or add spring-boot-starter-amqp and set spring.rabbitmq.*."
              .formatted(key, key));
    }
    Broker.Builder broker = Broker.at(spring.addresses().toArray(String[]::new));
    credentials(broker, spring.user(), spring.password());
    if (spring.virtualHost() != null) {
      broker.virtualHost(spring.virtualHost());
    }
    if (spring.tls() != null) {
      broker.tls(spring.tls());
    }
    return broker;
  }

  private static void credentials(
      Broker.Builder broker, @Nullable String user, @Nullable String password) {
    if (user != null && password != null) {
      broker.credentials(user, password);
    }
  }

  private static Topology topology(TopologyProperties settings) {
    Topology.Builder topology = Topology.builder();
    settings.exchanges().forEach(exchange -> topology.exchange(exchange.name(), exchange.type()));
    settings
        .queues()
        .forEach(
            queue ->
                topology.queue(
                    queue.name(),
                    Topology.QueueType.valueOf(queue.type().name()),
                    typed(queue.arguments())));
    settings
        .bindings()
        .forEach(bound -> topology.bind(bound.queue(), bound.exchange(), bound.routingKey()));
    settings
        .deadLetters()
        .forEach(
            dead -> topology.deadLetters(dead.exchange(), dead.queues().toArray(String[]::new)));
    return topology.build();
  }

  /** The broker tells numbers from texts. */
  private static Map<String, Object> typed(Map<String, String> arguments) {
    Map<String, Object> typed = new LinkedHashMap<>();
    arguments.forEach(
        (name, value) -> {
          if (value.matches("-?\\d{1,18}")) {
            typed.put(name, Long.valueOf(value));
          } else if (value.matches("true|false")) {
            typed.put(name, Boolean.valueOf(value));
          } else {
            typed.put(name, value);
          }
        });
    return typed;
  }
}
