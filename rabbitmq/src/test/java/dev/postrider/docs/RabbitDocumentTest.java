package dev.postrider.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.rabbitmq.InboxConsumer;
import dev.postrider.relay.Relay;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testkit.TestRabbit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the page about RabbitMQ shows is what the code does. */
class RabbitDocumentTest {
  private static final Path PAGE = Path.of("../docs/destinations/rabbitmq.md");

  @Test
  @Tag("HE-2")
  @Tag("HE-6")
  @Tag("HE-8")
  void aMessageGoesAllTheWay() throws Exception {
    try (TestPostgres database = TestPostgres.start()) {
      database.execute("create table invoice (id uuid primary key, order_id text)");
      Broker broker = RabbitExample.broker(TestRabbit.own().address(), "guest", "guest");
      RabbitExample.declare(broker);
      try (Relay relay = RabbitExample.carry(database.dataSource(), broker);
          InboxConsumer consumer = RabbitExample.consume(database.dataSource(), broker)) {
        enqueue(database, "o-7");
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> database.column("select order_id from invoice").equals(List.of("o-7")));
        assertThat(relay.status().running()).isTrue();
        assertThat(consumer.isConsuming()).isTrue();
      }
    }
  }

  private static void enqueue(TestPostgres database, String order) throws Exception {
    try (Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      new Outbox()
          .enqueue(
              connection,
              NewMessage.to("shop", "orders")
                  .aggregate("order", order)
                  .eventType("placed")
                  .json("{}")
                  .build());
      connection.commit();
    }
  }

  @Test
  @Tag("OP-6")
  void thePageShowsTheCodeThatRuns() throws Exception {
    String source =
        Files.readString(Path.of("src/test/java/dev/postrider/docs/RabbitExample.java"));
    String page = Files.readString(PAGE);
    Matcher step =
        Pattern.compile("    // step \\d\n(.*?)    // end", Pattern.DOTALL).matcher(source);
    int steps = 0;
    while (step.find()) {
      steps++;
      assertThat(page).contains(step.group(1).stripTrailing().stripIndent());
    }
    assertThat(steps).isEqualTo(4);
  }

  @Test
  @Tag("OP-6")
  void thePageNamesEveryCode() throws Exception {
    Pattern code = Pattern.compile("(?:retryable|terminal|unavailable|notSent)\\(\\s*\"(\\w+)\"");
    Set<String> used = new TreeSet<>();
    try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
      for (Path source : sources.filter(file -> file.toString().endsWith(".java")).toList()) {
        Matcher found = code.matcher(Files.readString(source));
        while (found.find()) {
          used.add(found.group(1));
        }
      }
    }
    String page = Files.readString(PAGE);
    assertThat(used).contains("confirm_timeout").allMatch(name -> page.contains("`" + name + "`"));
  }
}
