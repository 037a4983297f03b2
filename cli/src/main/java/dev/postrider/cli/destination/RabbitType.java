package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Section;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.envelope.Envelope;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.rabbitmq.RabbitConfig;
import dev.postrider.rabbitmq.RabbitDestination;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code rabbitmq}: publishes with confirms, and declares the topology. */
final class RabbitType implements DestinationType {
  @Override
  public String name() {
    return "rabbitmq";
  }

  @Override
  public Opener read(Section section, DestinationOptions options) {
    Broker broker = broker(section);
    @Nullable TlsSettings tls = tls(section, broker);
    RabbitConfig config = publishing(section, broker, options);
    return (dataSource, schema) ->
        RabbitDestination.open(
            tls == null ? config : config.withBroker(broker.withTls(tls.context())));
  }

  private static Broker broker(Section section) {
    Broker.Builder broker = address(section);
    @Nullable String host = section.text("virtual-host");
    if (host != null) {
      broker.virtualHost(host);
    }
    @Nullable String user = section.text("user");
    @Nullable String password = section.secret("password");
    if (user != null && password != null) {
      broker.credentials(user, password);
    } else if (user != null || password != null) {
      section.problem(user == null ? "user" : "password", "missing; user and password go together");
    }
    broker.connectionName(section.text("connection-name", "postrider"));
    broker.heartbeat(
        section.duration(
            "heartbeat", Duration.ofSeconds(5), Duration.ofSeconds(1), Duration.ofMinutes(5)));
    broker.connectTimeout(
        section.duration(
            "connect-timeout",
            Duration.ofSeconds(5),
            Duration.ofMillis(10),
            Duration.ofMinutes(1)));
    @Nullable Broker made = Checks.made(section, "", broker::build);
    return made == null ? nowhere().build() : made;
  }

  private static Broker.Builder address(Section section) {
    @Nullable String uri = section.url("uri");
    List<String> addresses = section.texts("addresses");
    if ((uri == null) == addresses.isEmpty()) {
      section.problem(
          "addresses", "expected either addresses, such as [mq1:5672, mq2:5672], or uri");
    }
    if (uri != null) {
      Broker.@Nullable Builder made = Checks.made(section, "uri", () -> Broker.uri(uri));
      return made == null ? nowhere() : made;
    }
    String[] all = addresses.toArray(new String[0]);
    boolean good = Checks.made(section, "addresses", () -> Broker.at(all).build()) != null;
    return good ? Broker.at(all) : nowhere();
  }

  /** Where reading goes on with, after something was refused. */
  private static Broker.Builder nowhere() {
    return Broker.at("localhost");
  }

  private static @Nullable TlsSettings tls(Section destination, Broker broker) {
    try (Section section = destination.section("tls")) {
      boolean enabled = section.flag("enabled", broker.tls() != null);
      TlsSettings tls = TlsSettings.read(section);
      if (!enabled && broker.tls() != null) {
        section.problem("enabled", "expected true, since the URI is amqps");
      } else if (!enabled && !tls.equals(TlsSettings.PLAIN)) {
        section.problem("enabled", "expected true, since there is a store");
      }
      return enabled ? tls : null;
    }
  }

  private static RabbitConfig publishing(
      Section section, Broker broker, DestinationOptions options) {
    String exchange = section.required("exchange");
    Checks.template(section, "exchange", "x");
    String routingKey = Checks.template(section, "routing-key", "{aggregate_type}.{event_type}");
    Envelope envelope = Checks.envelope(section, Checks.EnvelopeName.STANDARD);
    Duration confirm =
        section.duration(
            "confirm-timeout",
            Duration.ofSeconds(20),
            Duration.ofMillis(10),
            Duration.ofMinutes(30));
    Checks.shorterThanTimeout(section, "confirm-timeout", confirm, options);
    RabbitConfig.Builder config =
        RabbitConfig.to(broker)
            .routingKey(routingKey)
            .envelope(envelope)
            .confirmTimeout(confirm)
            .channels(section.number("channels", 4, 1, 64))
            .mandatory(section.flag("mandatory", true))
            .pipelining(section.flag("pipelining", false))
            .maxMessageBytes((int) section.size("max-message-bytes", 16 << 20, 1, 128 << 20))
            .topology(RabbitTopology.read(section));
    return config.exchange(exchange.isBlank() ? "none" : exchange).build();
  }
}
