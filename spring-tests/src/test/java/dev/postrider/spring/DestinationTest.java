package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.sun.net.httpserver.HttpServer;
import dev.postrider.kafka.server.KafkaServer;
import dev.postrider.message.NewMessage;
import dev.postrider.rabbitmq.RabbitDestination;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testkit.TestRabbit;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Destinations of the properties, with real brokers. */
@Tag("OP-5")
class DestinationTest {
  private static final String AMQPS = "spring.rabbitmq.addresses=amqps://shop:one@127.0.0.1:5671";
  private static final String WAITING = "select count(*) from postrider.queue";

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {}

  private static void publish(ConfigurableApplicationContext app) {
    TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
    new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(
            status ->
                outbox.publish(
                    NewMessage.to("shop", "orders")
                        .key("1")
                        .aggregate("order", "1")
                        .eventType("created")
                        .json("{\"id\": 1}")
                        .build()));
  }

  private static void untilDelivered(TestPostgres database) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(database.count(WAITING)).isZero());
    assertThat(database.count("select count(*) from postrider.dead_letter")).isZero();
  }

  /** What lies in a queue. */
  private static GetResponse taken(String queue) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(TestRabbit.uri());
    try (Connection connection = factory.newConnection()) {
      return Objects.requireNonNull(connection.createChannel().basicGet(queue, true));
    }
  }

  private static String[] rabbit(String name, String... address) {
    String[] all = new String[address.length + 9];
    System.arraycopy(address, 0, all, 9, address.length);
    all[0] = Apps.NO_JPA; // for the runner, which does not know it
    all[1] = "postrider.destinations.broker.type=rabbitmq";
    all[2] = "postrider.destinations.broker.exchange=" + name;
    all[3] = "postrider.destinations.broker.topology.exchanges[0].name=" + name;
    all[4] = "postrider.destinations.broker.topology.queues[0].name=" + name;
    all[5] = "postrider.destinations.broker.topology.bindings[0].queue=" + name;
    all[6] = "postrider.destinations.broker.topology.bindings[0].exchange=" + name;
    all[7] = "postrider.routes[0].namespace=shop";
    all[8] = "postrider.routes[0].destination=broker";
    return all;
  }

  @Test
  void rabbitByItsUri() throws Exception {
    TestPostgres database = Apps.database();
    String name = "shop-" + UUID.randomUUID();
    try (var app =
        Apps.start(
            database,
            Shop.class,
            rabbit(name, "postrider.destinations.broker.uri=" + TestRabbit.uri()))) {
      publish(app);
      untilDelivered(database);
    }
    GetResponse message = taken(name);
    assertThat(message.getEnvelope().getRoutingKey()).isEqualTo("shop.orders");
    assertThat(new String(message.getBody(), StandardCharsets.UTF_8)).contains("\"payload\"");
  }

  @Test
  void rabbitBySpringsConnectionDetails() throws Exception {
    TestPostgres database = Apps.database();
    String name = "shop-" + UUID.randomUUID();
    URI uri = URI.create(TestRabbit.uri());
    String[] login =
        uri.getUserInfo() == null
            ? new String[] {"guest", "guest"}
            : uri.getUserInfo().split(":", 2);
    try (var app =
        Apps.start(
            database,
            Shop.class,
            rabbit(
                name,
                "spring.rabbitmq.host=" + uri.getHost(),
                "spring.rabbitmq.port=" + (uri.getPort() < 0 ? 5672 : uri.getPort()),
                "spring.rabbitmq.username=" + login[0],
                "spring.rabbitmq.password=" + login[1],
                "postrider.destinations.broker.routing-key={aggregate_type}.{event_type}"))) {
      publish(app);
      untilDelivered(database);
    }
    assertThat(taken(name).getEnvelope().getRoutingKey()).isEqualTo("order.created");
  }

  /** Spring's client would use TLS, so this one must not send the password without it. */
  @Test
  void rabbitUsesTlsIfSpringDoes() {
    TestPostgres database = Apps.database();
    String stores =
        "spring.rabbitmq.ssl.trust-store=file:%s/lib/security/cacerts"
            .formatted(System.getProperty("java.home"));
    String password = "spring.rabbitmq.ssl.trust-store-password=changeit";
    for (String tls : List.of("spring.rabbitmq.ssl.enabled=true", AMQPS)) {
      try (var app = Apps.start(database, Shop.class, tls)) {
        assertThat(new SpringBrokers(app.getBeanFactory()).rabbit())
            .extracting(SpringBrokers.Rabbit::tls)
            .isNotNull();
      }
      try (var app = Apps.start(database, Shop.class, tls, stores, password)) {
        SpringBrokers brokers = new SpringBrokers(app.getBeanFactory());
        assertThatThrownBy(brokers::rabbit).isInstanceOf(StartException.class);
      }
    }
    try (var app = Apps.start(database, Shop.class)) {
      assertThat(new SpringBrokers(app.getBeanFactory()).rabbit())
          .extracting(SpringBrokers.Rabbit::tls)
          .isNull();
    }
  }

  @Test
  void kafkaBySpringsProperties() throws Exception {
    TestPostgres database = Apps.database();
    try (KafkaServer kafka = KafkaServer.start();
        var app =
            Apps.start(
                database,
                Shop.class,
                "spring.kafka.bootstrap-servers=" + kafka.address(),
                "postrider.destinations.log.type=kafka",
                "postrider.routes[0].namespace=shop",
                "postrider.routes[0].destination=log");
        Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.address()))) {
      admin.createTopics(List.of(new NewTopic("shop.orders", 1, (short) 1))).all().get();
      publish(app);
      untilDelivered(database);
      try (KafkaConsumer<String, String> consumer =
          new KafkaConsumer<>(
              Map.of(
                  "bootstrap.servers",
                  kafka.address(),
                  "group.id",
                  "test",
                  "auto.offset.reset",
                  "earliest"),
              new StringDeserializer(),
              new StringDeserializer())) {
        consumer.subscribe(List.of("shop.orders"));
        List<String> values = new CopyOnWriteArrayList<>();
        await()
            .atMost(Duration.ofSeconds(30))
            .until(
                () -> {
                  consumer.poll(Duration.ofMillis(200)).forEach(got -> values.add(got.value()));
                  return !values.isEmpty();
                });
        assertThat(values).containsExactly("{\"id\": 1}");
      }
    }
  }

  @Test
  void aWebhook() throws Exception {
    TestPostgres database = Apps.database();
    List<String> bodies = new CopyOnWriteArrayList<>();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/hooks",
        exchange -> {
          bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    server.start();
    try (var app =
        Apps.start(
            database,
            Shop.class,
            "postrider.destinations.partner.type=webhook",
            "postrider.destinations.partner.url=http://127.0.0.1:%d/hooks"
                .formatted(server.getAddress().getPort()),
            "postrider.destinations.partner.allow-nets=127.0.0.0/8",
            "postrider.destinations.partner.unsigned=true",
            "postrider.routes[0].namespace=shop",
            "postrider.routes[0].destination=partner")) {
      publish(app);
      untilDelivered(database);
      assertThat(bodies).containsExactly("{\"id\": 1}");
    } finally {
      server.stop(0);
    }
  }

  /** What the analyzer says if a class is missing. */
  private static FailureAnalysis without(Class<?> missing) {
    TestPostgres database = Apps.database();
    AtomicReference<FailureAnalysis> found = new AtomicReference<>();
    new ApplicationContextRunner()
        .withUserConfiguration(Shop.class)
        .withClassLoader(new FilteredClassLoader(missing))
        .withPropertyValues(rabbit("shop", "spring.datasource.url=" + database.jdbcUrl()))
        .run(app -> found.set(new StartFailureAnalyzer().analyze(app.getStartupFailure())));
    return found.get();
  }

  @Test
  void aMissingModuleIsNamed() {
    FailureAnalysis failure = without(RabbitDestination.class);
    assertThat(failure.getDescription())
        .contains("postrider.destinations.broker has the type rabbitmq");
    assertThat(failure.getAction()).contains("dev.postrider:postrider-rabbitmq");
  }

  @Test
  void aClientThatIsTooOldIsReported() {
    FailureAnalysis failure = without(EventLoopGroup.class);
    assertThat(failure.getDescription()).contains("older than postrider-rabbitmq needs");
    assertThat(failure.getAction()).contains("rabbit-amqp-client.version");
  }

  /** What is wrong with the settings of a route and a destination, given as key=value pairs. */
  @ParameterizedTest
  @CsvSource({
    "routes[0].namespace=shop, postrider.routes[0].destination is missing",
    "routes[0].destination=live, postrider.routes[0].namespace is missing",
    "routes[0].namespace=shop routes[0].destination=live, names the destination \"live\"",
    "routes[0].namespace=shop routes[0].destination=x destinations.x.timeout=5s,"
        + " postrider.destinations.x.type is missing",
    "routes[0].namespace=shop routes[0].destination=x destinations.x.type=rabitmq,"
        + " postrider.destinations.x.type is \"rabitmq\""
  })
  void aMissingOrWrongSettingIsReportedWithItsKey(String settings, String expected) {
    TestPostgres database = Apps.database();
    String[] properties =
        Arrays.stream(settings.split(" ")).map("postrider."::concat).toArray(String[]::new);
    assertThatThrownBy(() -> Apps.start(database, Shop.class, properties))
        .satisfies(
            thrown ->
                assertThat(NestedExceptionUtils.getMostSpecificCause(thrown))
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining(expected));
  }

  @Test
  void aWrongSettingIsReportedWithItsKey() {
    TestPostgres database = Apps.database();
    assertThatThrownBy(
            () ->
                Apps.start(
                    database,
                    Shop.class,
                    "postrider.destinations.broker.type=rabbitmq",
                    "postrider.routes[0].namespace=shop",
                    "postrider.routes[0].destination=broker"))
        .rootCause()
        .hasMessageContaining("postrider.destinations.broker.exchange is missing");
  }
}
