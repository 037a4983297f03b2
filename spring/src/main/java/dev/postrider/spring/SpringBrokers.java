package dev.postrider.spring;

import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.util.ClassUtils;

/**
 * Spring's own connection details, such as those of {@code spring.rabbitmq.*}, of Docker Compose
 * and of {@code @ServiceConnection}. Their types moved in Spring Boot 4, so they are found by name.
 */
final class SpringBrokers {
  private static final List<String> RABBIT =
      List.of(
          "org.springframework.boot.autoconfigure.amqp.RabbitConnectionDetails",
          "org.springframework.boot.amqp.autoconfigure.RabbitConnectionDetails");
  private static final List<String> KAFKA =
      List.of(
          "org.springframework.boot.autoconfigure.kafka.KafkaConnectionDetails",
          "org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails");

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
    BeanWrapper details = details(RABBIT);
    if (details == null || !(details.getPropertyValue("addresses") instanceof List<?> addresses)) {
      return null;
    }
    return new Rabbit(
        addresses.stream().map(SpringBrokers::address).toList(),
        (String) details.getPropertyValue("username"),
        (String) details.getPropertyValue("password"),
        (String) details.getPropertyValue("virtualHost"),
        details.getPropertyValue("sslBundle") instanceof SslBundle bundle
            ? bundle.createSslContext()
            : null);
  }

  /** A record of host and port. */
  private static String address(Object record) {
    try {
      var host = record.getClass().getMethod("host").invoke(record);
      var port = record.getClass().getMethod("port").invoke(record);
      return host + ":" + port;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("an address of another kind: " + record.getClass(), e);
    }
  }

  /** Kafka's brokers; empty if Spring knows none. */
  List<String> kafka() {
    BeanWrapper details = details(KAFKA);
    return details != null && details.getPropertyValue("bootstrapServers") instanceof List<?> all
        ? all.stream().map(String::valueOf).toList()
        : List.of();
  }

  private @Nullable BeanWrapper details(List<String> names) {
    for (String name : names) {
      if (ClassUtils.isPresent(name, getClass().getClassLoader())) {
        Class<?> type = ClassUtils.resolveClassName(name, getClass().getClassLoader());
        Object bean = beans.getBeanProvider(type).getIfUnique();
        return bean == null ? null : PropertyAccessorFactory.forBeanPropertyAccess(bean);
      }
    }
    return null;
  }
}
