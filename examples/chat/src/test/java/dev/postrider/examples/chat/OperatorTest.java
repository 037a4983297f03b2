package dev.postrider.examples.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Instant;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** What an operator sees and does, on whichever node. */
@Timeout(60)
class OperatorTest {
  @AutoClose private final Office office = new Office().relaying();

  OperatorTest() throws Exception {}

  private JsonNode dead() throws Exception {
    return Office.json(office.onB(office.operator).get("/v1/dead?code=moderated")).get("items");
  }

  private void awaitDead(int count) {
    await().until(() -> dead().size() == count);
  }

  @Test
  @Tag("CH-7")
  void whatWasHeldBackIsListedSentAgainAndHeard() throws Exception {
    try (Heard onB = new Heard(() -> office.onB(office.acme))) {
      String one = office.say(Office.LOBBY, "the Casino, at nine");
      String two = office.say(Office.LOBBY, "a casino?");
      String three = office.say(Office.SUPPORT, "casino chips for sale");
      String good = office.say(Office.LOBBY, "let us not");
      awaitDead(3);
      onB.awaitCount(1);
      assertThat(onB.ids()).containsExactly(good);
      ChatClient operator = office.onB(office.operator);
      JsonNode letter = Office.json(operator.get("/v1/dead/" + one));
      assertThat(letter.get("error").asString()).isEqualTo("it says casino");

      office.moderation.allow("casino");
      assertThat(operator.post("/v1/dead/" + one + "/requeue", "").statusCode()).isEqualTo(200);
      onB.awaitCount(2);
      assertThat(
              operator
                  .post("/v1/dead/" + three + "/discard", "{\"reason\": \"advertising\"}")
                  .statusCode())
          .isEqualTo(200);
      JsonNode many =
          Office.json(operator.post("/v1/dead/requeue", "{\"filter\": {\"code\": \"moderated\"}}"));
      assertThat(many.get("count").asInt()).isEqualTo(1);
      onB.awaitCount(3);
      assertThat(onB.ids()).containsExactly(good, one, two);
      assertThat(dead()).isEmpty();
      assertThat(operator.get("/v1/audit").body()).contains("advertising");
    }
  }

  @Test
  @Tag("CH-7")
  void aProjectMayNotActOnDeadLetters() throws Exception {
    String id = office.say(Office.LOBBY, "casino");
    awaitDead(1);
    assertThat(office.onA(office.acme).post("/v1/dead/" + id + "/requeue", "").statusCode())
        .isEqualTo(403);
    assertThat(dead()).hasSize(1);
  }

  @Test
  @Tag("CH-6")
  @Tag("CH-8")
  void historyAndMetricsTellWhatHappened() throws Exception {
    office.say(Office.LOBBY, "one");
    office.say(Office.SUPPORT, "casino");
    office.say(Office.ELSEWHERE, "two");
    awaitDead(1);
    ChatClient acme = office.onB(office.acme);
    String ofLobby =
        "/v1/events?aggregate_type=chat_session&aggregate_id=lobby&event_type=message_created";
    await()
        .untilAsserted(
            () -> {
              JsonNode events = Office.json(acme.get(ofLobby)).get("items");
              assertThat(events).hasSize(1); // globex has a lobby, too
              assertThat(events.get(0).has("delivered_at")).isTrue();
            });
    Instant from = Instant.now().minusSeconds(3600);
    String counts = "/v1/events/counts?from=%s&to=%s&interval=PT2H";
    JsonNode all =
        Office.json(acme.get(counts.formatted(from, from.plusSeconds(7200)))).get("items").get(0);
    assertThat(all.get("events").asInt()).isEqualTo(2);
    assertThat(all.get("delivered").asInt()).isEqualTo(1);
    assertThat(all.get("failed").asInt()).isEqualTo(1);
    String of = "{destination=\"stream\",event_type=\"message_created\",subscription=\"\"} ";
    await()
        .untilAsserted(
            () ->
                assertThat(office.onA(office.operator).get("/v1/metrics").body())
                    .contains("outbox_publish_success_total" + of + "2.0")
                    .contains("outbox_publish_failed_total" + of + "1.0")
                    .contains("outbox_publish_latency_seconds_count")
                    .contains("outbox_pending_depth 0.0")
                    .contains("outbox_oldest_pending_age_seconds 0.0"));
  }
}
