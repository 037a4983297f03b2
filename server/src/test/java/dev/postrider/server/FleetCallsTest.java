package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.server.Desk.Answer;
import dev.postrider.server.api.Endpoint;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** A server that runs no relay shows those of other processes. */
@Tag("OP-9")
class FleetCallsTest {
  private final Desk desk = Desk.open();

  @AfterEach
  void close() {
    desk.close();
  }

  private Relay relay() {
    BreakerOptions quick = new BreakerOptions(1, Duration.ofMinutes(1), Duration.ofMinutes(1));
    return Relay.builder(desk.postgres.dataSource())
        .config(RelayConfig.defaults().withName("far"))
        .destination(
            "rail",
            HandlerDestination.inline(message -> Outcome.unavailable("down", "no connection")),
            DestinationOptions.DEFAULT.withBreaker(quick))
        .route("shop", "orders", "rail")
        .build()
        .start();
  }

  private JsonNode item(String path) {
    return desk.get(desk.viewer, path).json().get("items").get(0);
  }

  private JsonNode fleet() {
    return desk.get(desk.viewer, "/v1/health").json().get("parts").get("fleet");
  }

  @Test
  void relaysAreShownWithVersionRoutesDestinationsAndBreakers() {
    try (Relay relay = relay()) {
      await().until(() -> item("/v1/relays") != null && item("/v1/relays").has("version"));
      JsonNode far = item("/v1/relays");
      assertThat(far.get("name").stringValue()).isEqualTo("far");
      assertThat(far.get("lost").booleanValue()).isFalse();
      assertThat(far.get("routes").get(0).get("destination").stringValue()).isEqualTo("rail");
      await().until(() -> fleet() != null && fleet().get("status").stringValue().equals("up"));

      desk.enqueue("'shop', 'orders'");
      desk.enqueue("'shop', 'odrers'");
      relay.wake();
      await().until(() -> item("/v1/destinations").get("breaker").stringValue().equals("open"));
      JsonNode rail = item("/v1/destinations");
      assertThat(rail.get("type").stringValue()).isEqualTo("handler");
      assertThat(rail.get("relays").get(0).stringValue()).isEqualTo("far");
      await().until(() -> fleet().get("status").stringValue().equals("degraded"));
      Answer health = desk.get(desk.viewer, "/v1/health");
      assertThat(health.status()).as("an open breaker is no reason to restart").isEqualTo(200);
      await().until(() -> fleet().toString().contains("odrers"));
      assertThat(desk.get(null, "/v1/health").text()).doesNotContain("far", "odrers");
      JsonNode unrouted = desk.get(desk.viewer, "/v1/status").json().get("unrouted");
      assertThat(unrouted).hasSize(1);
      assertThat(unrouted.get(0).get("topic").stringValue()).isEqualTo("odrers");
    }
    await().until(() -> fleet().get("status").stringValue().equals("degraded"));
    assertThat(desk.get(desk.viewer, "/v1/relays").json().get("items")).isEmpty();
  }

  @Test
  void aDestinationThatNoRelayKnowsIsPausedOnlyByForce() {
    try (Relay relay = relay()) {
      await().until(() -> item("/v1/destinations") != null);
      Answer typo = desk.post(desk.operator, "/v1/destinations/pause", "{\"name\": \"rial\"}");
      assertThat(typo.status()).isEqualTo(422);
      assertThat(typo.text()).contains("no relay knows a destination rial; known are: rail");
      Answer known = desk.post(desk.operator, "/v1/destinations/pause", "{\"name\": \"rail\"}");
      assertThat(known.status()).as(known.text()).isEqualTo(200);
      String forced = "{\"name\": \"rial\", \"force\": true}";
      assertThat(desk.post(desk.operator, "/v1/destinations/pause", forced).status())
          .isEqualTo(200);
      assertThat(relay.status().running()).isTrue();
    }
  }

  @Test
  @Tag("OP-7")
  void aServerAloneExportsNoSeriesOfARelay() {
    await().until(() -> desk.get(desk.viewer, "/v1/metrics").text().contains("outbox_pending"));
    assertThat(desk.get(desk.viewer, "/v1/metrics").text())
        .doesNotContain("outbox_wakeups", "outbox_claim", "outbox_attempts", "outbox_flush");
  }

  @Test
  @Tag("OP-7")
  void aMonitorHasHealthAndMetricsAndNothingElse() {
    try (Desk monitor = Desk.open(Server.Builder::monitorOnly)) {
      assertThat(monitor.server.endpoints().stream().map(Endpoint::name))
          .containsExactlyInAnyOrder(
              "GET /v1/health", "GET /v1/health/live", "GET /v1/health/ready", "GET /v1/metrics");
      assertThat(monitor.get(null, "/v1/metrics").status()).isEqualTo(401);
      assertThat(monitor.get(monitor.viewer, "/v1/metrics").status()).isEqualTo(200);
      await().until(() -> monitor.get(null, "/v1/health/ready").status() == 200);
    }
  }
}
