package dev.postrider.spring;

import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.util.ClassUtils;

/**
 * Spring's own connection details, such as those of {@code spring.rabbitmq.*}, of Docker Compose
 * and of {@code @ServiceConnection}. Their types moved in Spring Boot 4, so they are found by name.
 */
final class SpringBrokers {
  static final List<String> RABBIT =
      List.of(
          "org.springframework.boot.autoconfigure.amqp.RabbitConnectionDetails",
          "org.springframework.boot.amqp.autoconfigure.RabbitConnectionDetails");
  static final List<String> RABBIT_SETTINGS =
      List.of(
          "org.springframework.boot.autoconfigure.amqp.RabbitProperties",
          "org.springframework.boot.amqp.autoconfigure.RabbitProperties");
  static final List<String> KAFKA = List.of("org.springframework.kafka.core.ProducerFactory");

  private final ListableBeanFactory beans;

  SpringBrokers(ListableBeanFactory beans) {
    this.beans = beans;
  }

  /** Where RabbitMQ is. */
  record Rabbit(
      List<String> addresses,
      @Nullable String user,
      @Nullable String password,
      @Nullable String virtualHost,
      @Nullable SSLContext tls) {}

  @Nullable Rabbit rabbit() {
    Typed details = bean(RABBIT);
    if (details == null || !(details.get("getAddresses") instanceof List<?> addresses)) {
      return null;
    }
    return new Rabbit(
        addresses.stream().map(SpringBrokers::address).toList(),
        (String) details.get("getUsername"),
        (String) details.get("getPassword"),
        (String) details.get("getVirtualHost"),
        details.get("getSslBundle") instanceof SslBundle bundle
            ? bundle.createSslContext()
            : tlsWithoutBundle());
  }

  /** Of {@code spring.rabbitmq.ssl.enabled} and of addresses with amqps://. */
  private @Nullable SSLContext tlsWithoutBundle() {
    Typed settings = bean(RABBIT_SETTINGS);
    Object ssl = settings == null ? null : settings.get("getSsl");
    if (ssl == null || !Boolean.TRUE.equals(Typed.of(ssl).get("determineEnabled"))) {
      return null;
    }
    if (Typed.of(ssl).get("getKeyStore") != null || Typed.of(ssl).get("getTrustStore") != null) {
      throw new StartException(
          "A RabbitMQ destination uses the address of spring.rabbitmq, whose TLS has a key store or"
              + " a trust store.",
          "Move the stores to an SSL bundle (spring.ssl.bundle.jks.NAME), and set"
              + " spring.rabbitmq.ssl.bundle to its name.");
    }
    try {
      return SSLContext.getDefault();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A record of host and port. */
  private static String address(Object record) {
    return Typed.of(record).get("host") + ":" + Typed.of(record).get("port");
  }

  /**
   * The settings of Spring's producer for Kafka: those of {@code spring.kafka.*} with its
   * connection details. Empty if Spring has none.
   */
  Map<?, ?> kafka() {
    Typed factory = bean(KAFKA);
    return factory != null && factory.get("getConfigurationProperties") instanceof Map<?, ?> all
        ? all
        : Map.of();
  }

  /** An object whose methods are called by their names, with the type that hints name. */
  private record Typed(Class<?> type, Object object) {
    static Typed of(Object object) {
      return new Typed(object.getClass(), object);
    }

    @Nullable Object get(String method) {
      try {
        return type.getMethod(method).invoke(object);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("%s has no method %s".formatted(type, method), e);
      }
    }
  }

  private @Nullable Typed bean(Collection<String> names) {
    for (String name : names) {
      if (ClassUtils.isPresent(name, getClass().getClassLoader())) {
        Class<?> type = ClassUtils.resolveClassName(name, getClass().getClassLoader());
        try {
          Object bean = beans.getBeanProvider(type).getIfAvailable();
          return bean == null ? null : new Typed(type, bean);
        } catch (NoUniqueBeanDefinitionException e) {
          throw new StartException(
              "A destination says nothing about where its broker is, and there are several beans of"
                  + " type %s.".formatted(type.getName()),
              "Set the addresses under postrider.destinations, or mark one of the beans %s with"
                      .formatted(e.getBeanNamesFound())
                  + " @Primary.",
              e);
        }
      }
    }
    return null;
  }
}
