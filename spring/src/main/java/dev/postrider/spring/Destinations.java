package dev.postrider.spring;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.envelope.Envelope;
import dev.postrider.message.PostriderException;
import dev.postrider.schema.Schema;
import dev.postrider.spring.DestinationProperties.EnvelopeName;
import dev.postrider.stream.StreamDestination;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.util.ClassUtils;

/** Opens the destinations of the properties. */
final class Destinations {
  private final String prefix;
  private final Schema schema;
  private final Supplier<DataSource> connections;
  private final SpringBrokers brokers;
  private final ObjectProvider<SslBundles> bundles;
  private final ObjectProvider<DeliveryScope> scopes;
  private final @Nullable ClassLoader classes;

  /**
   * @param prefix of the outbox's properties
   * @param connections the relay's own, for destinations in the database
   */
  Destinations(
      String prefix,
      Schema schema,
      Supplier<DataSource> connections,
      ConfigurableListableBeanFactory beans) {
    this.prefix = prefix;
    this.schema = schema;
    this.connections = connections;
    this.brokers = new SpringBrokers(beans);
    this.bundles = beans.getBeanProvider(SslBundles.class);
    this.scopes = beans.getBeanProvider(DeliveryScope.class);
    this.classes = beans.getBeanClassLoader();
  }

  static DestinationOptions options(DestinationProperties settings) {
    return DestinationOptions.DEFAULT
        .withTimeout(settings.timeout())
        .withConcurrency(settings.concurrency())
        .withMaxInFlight(settings.maxInFlight())
        .withBreaker(
            new DestinationOptions.BreakerOptions(
                settings.breaker().failures(),
                settings.breaker().openMin(),
                settings.breaker().openMax()))
        .withMaxBytesInFlight(settings.maxBytesInFlight().toBytes());
  }

  Destination open(String name, DestinationProperties settings) {
    String key = prefix + ".destinations." + name;
    try {
      return scopes.getIfAvailable(() -> DeliveryScope.NONE).around(name, opened(key, settings));
    } catch (StartException e) {
      throw e;
    } catch (PostriderException | NoSuchSslBundleException e) {
      throw new StartException(
          "The destination %s cannot be opened: %s".formatted(name, e.getMessage()),
          "Correct the settings under " + key + ".",
          e);
    }
  }

  private Destination opened(String key, DestinationProperties settings) {
    return switch (given(key + ".type", settings.type(), "rabbitmq")) {
      case "stream" -> new StreamDestination(connections.get(), schema);
      case "rabbitmq" -> {
        require(key, "rabbitmq", "dev.postrider.rabbitmq.RabbitDestination");
        requireRabbitClient();
        yield RabbitOpener.open(key, settings, brokers, tls(settings));
      }
      case "kafka" -> {
        require(key, "kafka", "dev.postrider.kafka.KafkaDestination");
        yield KafkaOpener.open(key, settings, brokers, bundle(settings));
      }
      case "webhook" -> {
        require(key, "webhook", "dev.postrider.webhook.WebhookDestination");
        yield WebhookOpener.open(key, settings, tls(settings));
      }
      default ->
          throw new StartException(
              "%s.type is \"%s\".".formatted(key, settings.type()),
              "Set it to one of rabbitmq, kafka, webhook, stream.");
    };
  }

  private @Nullable SSLContext tls(DestinationProperties settings) {
    SslBundle bundle = bundle(settings);
    return bundle == null ? null : bundle.createSslContext();
  }

  private @Nullable SslBundle bundle(DestinationProperties settings) {
    String name = settings.sslBundle();
    return name == null ? null : bundles.getObject().getBundle(name);
  }

  private void require(String key, String module, String type) {
    if (!ClassUtils.isPresent(type, classes)) {
      throw new StartException(
          "%s has the type %s, but its module is not on the class path.".formatted(key, module),
          "Add the dependency dev.postrider:postrider-%s, in the version of the starter."
              .formatted(module));
    }
  }

  /** Spring Boot 3.5 replaces the client by one that is too old. */
  private void requireRabbitClient() {
    if (!ClassUtils.isPresent("com.rabbitmq.client.ConnectionFactory$NettyConfiguration", classes)
        || !ClassUtils.isPresent("io.netty.channel.EventLoopGroup", classes)) {
      throw new StartException(
          "The RabbitMQ client on the class path is older than postrider-rabbitmq needs.",
          "Set the version of com.rabbitmq:amqp-client to 5.35.0. With Spring Boot's dependency"
              + " management: the property rabbit-amqp-client.version.");
    }
  }

  static Envelope envelope(String key, DestinationProperties settings, EnvelopeName usual) {
    EnvelopeName name = settings.envelope() == null ? usual : settings.envelope();
    return switch (name) {
      case PAYLOAD -> Envelope.payload();
      case STANDARD -> Envelope.standard();
      case CLOUDEVENTS_BINARY ->
          Envelope.cloudEventsBinary(given(key + ".source", settings.source(), "/shop"));
      case CLOUDEVENTS_STRUCTURED ->
          Envelope.cloudEventsStructured(given(key + ".source", settings.source(), "/shop"));
    };
  }

  static String given(String key, @Nullable String value, String example) {
    if (value == null || value.isBlank()) {
      throw new StartException(
          key + " is missing; it is mandatory.", "Set it, for example " + key + "=" + example);
    }
    return value;
  }
}
