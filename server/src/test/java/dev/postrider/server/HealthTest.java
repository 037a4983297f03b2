package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.server.Desk.Answer;
import dev.postrider.testkit.TestPostgres;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import tools.jackson.databind.JsonNode;

@Tag("HE-12")
@TestMethodOrder(OrderAnnotation.class)
class HealthTest {
  private static final TestPostgres POSTGRES = TestPostgres.start();
  private static final Metrics METRICS = new Metrics();
  private static Relay relay;
  private static Desk desk;

  @BeforeAll
  static void open() {
    relay =
        Relay.builder(POSTGRES.dataSource())
            .config(RelayConfig.defaults().withName("ann"))
            .listener(METRICS.relay())
            .destination("rail", HandlerDestination.inline(message -> Outcome.delivered()))
            .route("shop", "*", "rail")
            .build()
            .start();
    desk = Desk.on(POSTGRES, builder -> builder.metrics(METRICS).relay(relay::status));
    await().until(() -> status(null).get("status").stringValue().equals("up"));
  }

  @AfterAll
  static void close() {
    desk.close();
    relay.close();
    POSTGRES.close();
  }

  private static JsonNode status(String token) {
    return desk.get(token, "/v1/health").json();
  }

  @Test
  @Order(1)
  void everybodySeesHowItIsAndOnlyTokensSeeWhat() {
    JsonNode open = status(null);
    assertThat(open.get("parts").propertyNames())
        .contains("database", "relay", "listener", "destinations", "backlog", "fleet");
    assertThat(open.toString()).doesNotContain("rail").doesNotContain("ann");
    assertThat(status("bad").toString()).doesNotContain("rail");
    JsonNode shown = status(desk.viewer).get("parts");
    assertThat(shown.get("relay").get("details").get("name").stringValue()).isEqualTo("ann");
    assertThat(shown.get("relay").get("details").get("loop_seconds_ago").isNumber()).isTrue();
    assertThat(shown.get("destinations").get("details").get("rail").get("breaker").stringValue())
        .isEqualTo("closed");
    assertThat(shown.get("backlog").get("details").has("oldest_pending_seconds")).isTrue();
    assertThat(desk.get(null, "/v1/health/live").status()).isEqualTo(200);
    assertThat(desk.get(null, "/v1/health/ready").status()).isEqualTo(200);
    assertThat(shown.get("fleet").get("details").get("relays").get(0).get("name").stringValue())
        .isEqualTo("ann");
  }

  @Test
  @Order(2)
  @Tag("PO-11")
  void metricsNeedATokenInEitherHeader() {
    desk.enqueue("'shop', 'orders'");
    String scraper = desk.token(NewToken.of("scraper", Permission.METRICS)).secret();
    assertThat(desk.get(null, "/v1/metrics").status()).isEqualTo(401);
    await()
        .until(
            () ->
                desk.get(scraper, "/v1/metrics")
                    .text()
                    .contains(
                        "outbox_attempts_total{destination=\"rail\",state=\"DISPATCHED\",subscription=\"\"}"
                            + " 1.0"));
    Answer bearer = desk.get(scraper, "/v1/metrics");
    assertThat(bearer.header("Content-Type")).startsWith("text/plain; version=0.0.4");
    assertThat(bearer.text()).contains("outbox_pending_depth", "outbox_oldest_pending_age_seconds");
    Answer header =
        desk.send(desk.request(null, "/v1/metrics").header("x-metrics-token", scraper).GET());
    assertThat(header.status()).isEqualTo(200);
    assertThat(
            desk.send(desk.request(null, "/v1/metrics").header("x-metrics-token", "no").GET())
                .status())
        .isEqualTo(401);
    assertThat(
            desk.send(desk.request(null, "/v1/status").header("x-metrics-token", scraper).GET())
                .status())
        .as("only for metrics")
        .isEqualTo(401);
  }

  @Test
  @Order(3)
  @Tag("OP-7")
  void withoutItsDatabaseItIsNotReadyButAlive() {
    String scraper = desk.token(NewToken.of("steady", Permission.METRICS)).secret();
    String late = desk.token(NewToken.of("late", Permission.METRICS)).secret();
    assertThat(desk.get(scraper, "/v1/metrics").status()).isEqualTo(200);
    POSTGRES.server().stop();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> desk.get(null, "/v1/health/ready").status() == 503);
    assertThat(desk.get(null, "/v1/health").status()).isEqualTo(503);
    assertThat(status(null).get("parts").get("database").get("status").stringValue())
        .isEqualTo("down");
    assertThat(desk.get(null, "/v1/health/live").status()).isEqualTo(200);
    assertThat(desk.get(scraper, "/v1/metrics").text())
        .as("metrics tell that the database is away")
        .contains("outbox_database_failures_total");
    int before = desk.connections.get();
    long start = System.nanoTime();
    for (int i = 0; i < 100; i++) {
      assertThat(desk.get(scraper, "/v1/metrics").status()).isEqualTo(200);
    }
    assertThat(desk.connections.get() - before)
        .as("a token that was good lately does not wait for the database each time")
        .isLessThan((int) (20 + (System.nanoTime() - start) / 200_000_000));
    assertThat(desk.get(late, "/v1/metrics").status()).as("never seen before").isEqualTo(503);
    Answer messages = desk.get(desk.viewer, "/v1/messages");
    assertThat(messages.status()).as(messages.text()).isEqualTo(503);
    assertThat(messages.header("Retry-After")).isNotEmpty();
    assertThat(messages.text()).doesNotContain("localhost").doesNotContain("127.0.0.1");
    POSTGRES.server().restart();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> desk.get(null, "/v1/health/ready").status() == 200);
  }

  @Test
  @Order(4)
  void aRelayThatStoppedIsNotAlive() {
    relay.close();
    assertThat(desk.get(null, "/v1/health/live").status()).isEqualTo(503);
    assertThat(desk.get(null, "/v1/health/ready").status()).isEqualTo(503);
  }
}
