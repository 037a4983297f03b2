package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testkit.TestRabbit;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** The second step of docs/spring.md and its settings for RabbitMQ, as they stand there. */
@Tag("OP-5")
class RabbitStepsTest {
  private static final Path PAGE = Path.of("../../docs/spring.md");

  @TempDir Path folder;

  record OrderCreated(String id) {}

  static class Orders {
    private final JdbcTemplate jdbc;
    private final TransactionalOutbox outbox;

    Orders(JdbcTemplate jdbc, TransactionalOutbox outbox) {
      this.jdbc = jdbc;
      this.outbox = outbox;
    }

    @Transactional
    public void create(String id) {
      jdbc.update("insert into orders (id) values (?)", id);
      outbox.publish(
          NewMessage.to("shop", "orders")
              .key(id)
              .eventType("created")
              .json(new OrderCreated(id))
              .build());
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    Orders orders(JdbcTemplate jdbc, TransactionalOutbox outbox) {
      return new Orders(jdbc, outbox);
    }
  }

  /** The first block of YAML in the section. */
  private static String settings(String page) {
    Matcher block =
        Pattern.compile("\n## Destinations\n.*?```yaml\n(.*?)```", Pattern.DOTALL).matcher(page);
    assertThat(block.find()).isTrue();
    return block.group(1);
  }

  private static List<String> taken(String queue) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(TestRabbit.uri());
    List<String> taken = new ArrayList<>();
    try (Connection connection = factory.newConnection()) {
      var channel = connection.createChannel();
      for (GetResponse got = channel.basicGet(queue, true);
          got != null;
          got = channel.basicGet(queue, true)) {
        taken.add(
            got.getEnvelope().getRoutingKey()
                + " "
                + new String(got.getBody(), StandardCharsets.UTF_8));
      }
    }
    return taken;
  }

  @Test
  void theMessageOfTheSecondStepArrives() throws Exception {
    String page = Files.readString(PAGE);
    String sent = ".key(id).eventType(\"created\").json(new OrderCreated(id)).build());";
    assertThat(page).contains(sent);
    Path yaml = folder.resolve("application.yaml");
    Files.writeString(yaml, settings(page));
    TestPostgres database = Apps.database();
    database.execute("create table orders (id text primary key)");
    String id = UUID.randomUUID().toString();
    try (var app =
        Apps.start(
            database,
            Shop.class,
            "spring.config.additional-location=" + yaml.toUri(),
            "postrider.destinations.broker.uri=" + TestRabbit.uri())) {
      app.getBean(Orders.class).create(id);
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> assertThat(database.count("select count(*) from postrider.queue")).isZero());
    }
    assertThat(database.column("select code from postrider.dead_letter")).isEmpty();
    assertThat(taken("invoicing"))
        .filteredOn(text -> text.contains(id))
        .singleElement()
        .asString()
        .startsWith("shop.orders {");
  }
}
