package dev.postrider.spring.modulith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.postrider.spring.OutsideTransactionException;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testkit.TestRabbit;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.Externalized;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Events of Spring Modulith 2.1 in outbox mode. */
@Tag("OP-5")
class ModulithTest {
  private static final TestPostgres DATABASE = TestPostgres.start();
  private static final String KEYS =
      """
      select m.ordering_key from postrider.message m join postrider.route r on r.id = m.route
       where r.topic = '%s' order by m.id
      """;
  private static final AtomicInteger MAPPED = new AtomicInteger();

  @Externalized("orders::#{orderId()}")
  record OrderCompleted(String orderId, String secret) {}

  record Completed(String number) {}

  record Internal(String text) {}

  /** Neither the tenant nor the id is in what the event is mapped to. */
  @Externalized("#{'orders-' + tenant()}::customer-#{@customers.of(id())}")
  record OrderShipped(String tenant, String id) {}

  record Shipped(String carrier) {}

  @Externalized("refunds::customer-#{id()}")
  record Refunded(String id) {}

  @Externalized("#{'notices-' + topic()}")
  record Noticed(String topic) {}

  /** Its key is a name that somebody chose. */
  @Externalized("customers::#{id()}")
  record Registered(String id, String name) {}

  static class Customers {
    public String of(String order) {
      return "c" + order;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    EventExternalizationConfiguration externalization() {
      return EventExternalizationConfiguration.defaults("dev.postrider.spring.modulith")
          .mapping(
              OrderCompleted.class,
              event -> {
                MAPPED.incrementAndGet();
                return new Completed(event.orderId());
              })
          .mapping(OrderShipped.class, event -> new Shipped("post"))
          .routeKey(Registered.class, Registered::name)
          .headers(OrderCompleted.class, event -> java.util.Map.of("source", "shop"))
          .build();
    }

    @Bean
    Customers customers() {
      return new Customers();
    }
  }

  private static ConfigurableApplicationContext start(String... properties) {
    return new SpringApplicationBuilder(Shop.class)
        .web(WebApplicationType.NONE)
        .properties(
            "spring.datasource.url=" + DATABASE.jdbcUrl(),
            "spring.modulith.events.jdbc.schema-initialization.enabled=true",
            "spring.modulith.events.externalization.mode=outbox",
            "postrider.modulith.namespace=shop")
        .properties(properties)
        .run();
  }

  @Test
  void anEventIsPublishedInItsTransactionWithItsKeyEvaluatedAndItsPayloadMappedOnce() {
    int before = MAPPED.get();
    try (var app = start()) {
      TransactionTemplate transaction =
          new TransactionTemplate(app.getBean(PlatformTransactionManager.class));
      transaction.executeWithoutResult(
          status -> {
            app.publishEvent(new OrderCompleted("7", "hidden"));
            app.publishEvent(new Internal("stays here"));
          });
      transaction.executeWithoutResult(
          status -> {
            app.publishEvent(new OrderCompleted("8", "hidden"));
            status.setRollbackOnly();
          });
      assertThat(messages("orders"))
          .containsExactly("shop orders 7 {\"number\":\"7\"} {\"source\": \"shop\"}");
      assertThat(MAPPED).hasValue(before + 2);
      assertThatThrownBy(() -> app.publishEvent(new OrderCompleted("9", "hidden")))
          .isInstanceOf(OutsideTransactionException.class);
    }
  }

  @Test
  void expressionsAreEvaluatedOnTheEventWhereverTheyStand() {
    try (var app = start()) {
      publish(
          app,
          new OrderShipped("acme", "1"),
          new OrderShipped("acme", "2"),
          new Noticed("a"),
          new Refunded("3"));
      assertThat(messages("orders-acme"))
          .containsExactly(
              "shop orders-acme customer-c1 {\"carrier\":\"post\"}",
              "shop orders-acme customer-c2 {\"carrier\":\"post\"}");
      assertThat(messages("refunds")).containsExactly("shop refunds customer-3 {\"id\":\"3\"}");
      assertThat(messages("notices-a")).containsExactly("shop notices-a {\"topic\":\"a\"}");
    }
  }

  @Test
  void textOfAnEventIsNeverEvaluated() {
    String attack = "#{T(java.lang.System).setProperty('postrider.attacked', 'yes')}";
    try (var app = start()) {
      publish(app, new Registered("1", attack), new Registered("2", "ann #{id()}"));
      assertThat(DATABASE.column(KEYS.formatted("customers")))
          .containsExactly(attack, "ann #{id()}");
      assertThat(System.getProperty("postrider.attacked")).isNull();
    }
  }

  @Test
  void anEventArrivesThroughRabbit() throws Exception {
    String name = "modulith-" + UUID.randomUUID();
    String broker = "postrider.destinations.broker.";
    TestPostgres database = DATABASE.another("modulith_rabbit");
    try (var app =
        start(
            "spring.datasource.url=" + database.jdbcUrl(),
            broker + "type=rabbitmq",
            broker + "uri=" + TestRabbit.uri(),
            broker + "exchange=" + name,
            broker + "topology.exchanges[0].name=" + name,
            broker + "topology.queues[0].name=" + name,
            broker + "topology.bindings[0].queue=" + name,
            broker + "topology.bindings[0].exchange=" + name,
            broker + "topology.bindings[0].routing-key=shop.orders",
            "postrider.routes[0].namespace=shop",
            "postrider.routes[0].destination=broker")) {
      publish(app, new OrderCompleted("7", "hidden"));
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> assertThat(database.count("select count(*) from postrider.queue")).isZero());
    }
    assertThat(database.column("select code from postrider.dead_letter")).isEmpty();
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(TestRabbit.uri());
    try (Connection connection = factory.newConnection()) {
      GetResponse message = connection.createChannel().basicGet(name, true);
      assertThat(new String(message.getBody(), StandardCharsets.UTF_8))
          .contains("{\"number\":\"7\"}");
    }
  }

  @Test
  void nothingIsPublishedIfExternalizationIsSwitchedOff() {
    try (var app = start("spring.modulith.events.externalization.enabled=false")) {
      int before = messages("orders").size();
      app.publishEvent(new OrderCompleted("10", "hidden"));
      publish(app, new OrderCompleted("11", "hidden"));
      assertThat(messages("orders")).hasSize(before);
      assertThat(app.containsBean("postriderModulithPublisher")).isFalse();
    }
  }

  @Test
  void nothingIsPublishedInTheModeWithoutAnOutbox() {
    try (var app = start("spring.modulith.events.externalization.mode=module-listener")) {
      assertThat(app.containsBean("postriderModulithPublisher")).isFalse();
    }
  }

  private static void publish(ConfigurableApplicationContext app, Object... events) {
    new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(status -> List.of(events).forEach(app::publishEvent));
  }

  private static List<String> messages(String topic) {
    return DATABASE.column(
        """
        select concat_ws(' ', r.namespace, r.topic, m.ordering_key,
                         convert_from(m.payload, 'UTF8'), m.headers)
          from postrider.message m join postrider.route r on r.id = m.route
         where r.topic = '%s' order by m.id
        """
            .formatted(topic));
  }
}
