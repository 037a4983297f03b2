package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.kafka.server.KafkaServer;
import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testkit.TestRabbit;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ClassUtils;

/**
 * Beans with connection details, as Testcontainers and Docker Compose supply them. They win over
 * the properties, which are wrong here. Their types moved in Spring Boot 4.
 */
@Tag("OP-5")
class ConnectionDetailsTest {
  private static final String NOWHERE = "127.0.0.1:1";

  static class Mails {
    final List<String> sent = new CopyOnWriteArrayList<>();

    @OutboxHandler(namespace = "mail", topic = "orders")
    void ordered(String payload) {
      sent.add(payload);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    Mails mails() {
      return new Mails();
    }
  }

  /** A bean of a type of Spring Boot 3.5 or 4 that answers with these values. */
  private static Object details(Class<?> type, Map<String, Object> values) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          if (values.containsKey(method.getName())) {
            return values.get(method.getName());
          } else if (method.isDefault()) {
            return InvocationHandler.invokeDefault(proxy, method, arguments);
          }
          return switch (method.getName()) {
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> proxy == arguments[0];
            case "toString" -> "details";
            default -> null;
          };
        };
    return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
  }

  private static Class<?> type(String area, String name) {
    ClassLoader loader = ConnectionDetailsTest.class.getClassLoader();
    String older = "org.springframework.boot.autoconfigure.%s.%s".formatted(area, name);
    return ClassUtils.resolveClassName(
        ClassUtils.isPresent(older, loader)
            ? older
            : "org.springframework.boot.%s.autoconfigure.%s".formatted(area, name),
        loader);
  }

  private static ConfigurableApplicationContext start(
      TestPostgres database, Object details, String... properties) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "spring.datasource.url=" + database.jdbcUrl(),
                Apps.NO_JPA_AND_JOOQ,
                "postrider.routes[0].namespace=shop",
                "postrider.routes[0].destination=broker"));
    all.addAll(Arrays.asList(properties));
    return new SpringApplicationBuilder(Shop.class)
        .web(WebApplicationType.NONE)
        .initializers(app -> app.getBeanFactory().registerSingleton("details", details))
        .properties(all.toArray(String[]::new))
        .run();
  }

  private static void publish(ConfigurableApplicationContext app, String namespace) {
    TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
    new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(
            status -> outbox.publish(NewMessage.to(namespace, "orders").json("7").build()));
  }

  private static void untilDelivered(TestPostgres database) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> assertThat(database.count("select count(*) from postrider.queue")).isZero());
    assertThat(database.count("select count(*) from postrider.dead_letter")).isZero();
  }

  @Test
  void rabbit() throws Exception {
    URI uri = URI.create(TestRabbit.uri());
    String[] login =
        uri.getUserInfo() == null
            ? new String[] {"guest", "guest"}
            : uri.getUserInfo().split(":", 2);
    Class<?> type = type("amqp", "RabbitConnectionDetails");
    Object address =
        Class.forName(type.getName() + "$Address")
            .getConstructor(String.class, int.class)
            .newInstance(uri.getHost(), uri.getPort() < 0 ? 5672 : uri.getPort());
    Object details =
        details(
            type,
            Map.of(
                "getAddresses", List.of(address),
                "getUsername", login[0],
                "getPassword", login[1]));
    String name = "details-" + UUID.randomUUID();
    TestPostgres database = Apps.database();
    try (var app =
        start(
            database,
            details,
            "spring.rabbitmq.addresses=" + NOWHERE,
            "postrider.destinations.broker.type=rabbitmq",
            "postrider.destinations.broker.exchange=" + name,
            "postrider.destinations.broker.topology.exchanges[0].name=" + name,
            "postrider.destinations.broker.topology.queues[0].name=" + name,
            "postrider.destinations.broker.topology.bindings[0].queue=" + name,
            "postrider.destinations.broker.topology.bindings[0].exchange=" + name)) {
      publish(app, "shop");
      untilDelivered(database);
    }
  }

  @Test
  void kafka() throws Exception {
    try (KafkaServer kafka = KafkaServer.start();
        Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.address()))) {
      admin.createTopics(List.of(new NewTopic("shop.orders", 1, (short) 1))).all().get();
      Object details =
          details(
              type("kafka", "KafkaConnectionDetails"),
              Map.of("getBootstrapServers", List.of(kafka.address())));
      TestPostgres database = Apps.database();
      try (var app =
          start(
              database,
              details,
              "spring.kafka.bootstrap-servers=" + NOWHERE,
              "postrider.destinations.broker.type=kafka")) {
        publish(app, "shop");
        untilDelivered(database);
      }
    }
  }

  /** The relay's own connections go there too. */
  @Test
  void jdbc() {
    TestPostgres database = Apps.database();
    String url = database.jdbcUrl();
    Object details =
        details(
            type("jdbc", "JdbcConnectionDetails"),
            Map.of(
                "getJdbcUrl", url.substring(0, url.indexOf('?')),
                "getUsername", "postgres",
                "getPassword", url.substring(url.indexOf("password=") + 9)));
    try (var app =
        start(
            database,
            details,
            "spring.datasource.url=jdbc:postgresql://%s/nowhere".formatted(NOWHERE),
            "spring.datasource.hikari.maximum-pool-size=1",
            "postrider.destinations.broker.type=stream")) {
      publish(app, "mail");
      Mails mails = app.getBean(Mails.class);
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(mails.sent).containsExactly("7"));
    }
  }
}
