package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.server.api.Endpoint;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * Every endpoint gives every good answer that it declares. {@link Desk} compares each of them, and
 * all other answers in these tests, with the OpenAPI document.
 */
@Tag("OP-3")
class AnswersTest {
  private static final Desk DESK = Desk.open();

  @AfterAll
  static void close() {
    DESK.close();
  }

  @Test
  void everyGoodAnswerIsAsDescribed() {
    overview();
    messages();
    deadLetters();
    keys();
    pauses();
    subscriptions();
    replays();
    tokens();
    Set<String> declared = new TreeSet<>();
    for (Endpoint endpoint : DESK.server.endpoints()) {
      endpoint.answers().stream()
          .filter(answer -> answer.status() < 500) // a server that is down: HealthTest
          .filter(answer -> !endpoint.name().equals("GET /v1/live")) // it does not end: ConsoleTest
          .forEach(answer -> declared.add(endpoint.name() + " " + answer.status()));
    }
    assertThat(DESK.described().seen()).containsAll(declared);
  }

  @Test
  void limitsAreThoseOfEnqueue() {
    String message =
        """
        {"namespace": "%s", "topic": "%s", "key": "%s", "payload": 1}""";
    assertThat(post("/v1/messages", message.formatted(word(100), word(200), word(400))).status())
        .isEqualTo(201);
    for (int[] over : new int[][] {{101, 1, 1}, {1, 201, 1}, {1, 1, 401}}) {
      assertThat(
              post("/v1/messages", message.formatted(word(over[0]), word(over[1]), word(over[2])))
                  .status())
          .isEqualTo(422);
    }
    JsonNode properties =
        DESK.get(null, "/v1/openapi.json")
            .json()
            .at(
                "/paths/~1v1~1messages/post/requestBody/content/application~1json/schema/properties");
    assertThat(properties.get("namespace").get("maxLength").intValue()).isEqualTo(100);
    assertThat(properties.get("topic").get("maxLength").intValue()).isEqualTo(200);
    assertThat(properties.get("key").get("maxLength").intValue()).isEqualTo(400);
  }

  /** Characters outside the basic plane count once, as PostgreSQL counts them. */
  private static String word(int length) {
    return "\uD83D\uDCEE".repeat(length);
  }

  private static Desk.Answer get(String path) {
    return DESK.get(DESK.admin, path);
  }

  private static Desk.Answer post(String path, String body) {
    return DESK.call(DESK.admin, "POST", path, body);
  }

  private static void overview() {
    await().until(() -> get("/v1/health").status() == 200);
    get("/v1/health/live");
    get("/v1/health/ready");
    get("/v1/metrics");
    get("/v1/openapi.json");
    DESK.enqueue("'over', 'view'");
    get("/v1/status");
    get("/v1/relays");
    get("/v1/leases");
  }

  private static void messages() {
    String message =
        """
        {"namespace": "shop", "topic": "orders", "key": "k", "dedupe_key": "d", "tenant": "t",
         "aggregate_type": "order", "aggregate_id": "1", "event_type": "made", "payload": {"n": 1},
         "headers": {"h": "v"}}""";
    String id = post("/v1/messages", message).json().get("id").stringValue();
    post("/v1/messages", message);
    post("/v1/messages/batch", "{\"messages\": [" + message.replace("\"d\"", "\"e\"") + "]}");
    get("/v1/messages?limit=1");
    get("/v1/messages/" + id);
    get("/v1/messages/" + id + "/why");
    get("/v1/messages/" + id + "/neighbours");
    DESK.carry(1, "ok");
    get("/v1/events?limit=1");
    get("/v1/events/counts?from=2026-01-01T00:00:00Z&to=2026-01-01T00:02:00Z&interval=PT1M");
  }

  private static UUID dead() {
    UUID id = DESK.enqueue("'shop', 'bills'");
    DESK.carry(3, "broken");
    return id;
  }

  private static void deadLetters() {
    UUID one = dead();
    get("/v1/dead?limit=1");
    get("/v1/dead/groups");
    get("/v1/dead/" + one);
    post("/v1/dead/" + one + "/requeue", "");
    DESK.carry(1, "ok");
    post("/v1/dead/" + dead() + "/discard", "{\"reason\": \"why\"}");
    dead();
    post("/v1/dead/requeue", "{\"all\": true}");
    DESK.carry(3, "broken");
    post("/v1/dead/discard", "{\"all\": true, \"reason\": \"why\"}");
    get("/v1/audit?limit=1");
    get("/v1/retention");
  }

  private static void keys() {
    for (String act : new String[] {"retry", "skip"}) {
      DESK.enqueue("'shop', 'parcels', key => '" + act + "'");
      DESK.carry(4, "broken");
      get("/v1/keys/blocked");
      String reason = act.equals("skip") ? ", \"reason\": \"why\"" : "";
      post("/v1/keys/" + act, "{\"namespace\": \"shop\", \"key\": \"" + act + "\"" + reason + "}");
      DESK.carry(1, "ok");
    }
  }

  private static void pauses() {
    post("/v1/destinations/pause", "{\"name\": \"mail\", \"force\": true}");
    get("/v1/destinations");
    post("/v1/destinations/resume", "{\"name\": \"mail\"}");
    post("/v1/topics/pause", "{\"namespace\": \"shop\", \"topic\": \"bills\"}");
    get("/v1/topics/paused");
    post("/v1/topics/resume", "{\"namespace\": \"shop\", \"topic\": \"bills\"}");
  }

  private static void subscriptions() {
    String mail = "{\"namespace\": \"shop\", \"topic\": \"mails\", \"subscription\": \"mail\"}";
    post("/v1/subscriptions", mail);
    post("/v1/subscriptions/pause", mail);
    get("/v1/subscriptions");
    post("/v1/subscriptions/resume", mail);
    post("/v1/subscriptions/remove", mail);
    post("/v1/subscriptions/discard", mail.replace("}", ", \"reason\": \"no longer used\"}"));
  }

  private static void replays() {
    String filter = "\"filter\": {\"namespace\": \"shop\"}";
    post("/v1/replays", "{" + filter + ", \"dry_run\": true}");
    String id = post("/v1/replays", "{" + filter + ", \"rate\": 1}").json().get("id").toString();
    get("/v1/replays");
    get("/v1/replays/" + id);
    post("/v1/replays/" + id + "/stop", "");
    await().until(() -> post("/v1/replays/" + id + "/resume", "{}").status() != 409);
  }

  private static void tokens() {
    JsonNode made = post("/v1/tokens", "{\"name\": \"ann\", \"role\": \"viewer\"}").json();
    get("/v1/tokens?limit=1");
    get("/v1/session");
    post("/v1/session", "{\"token\": \"" + DESK.admin + "\"}");
    DESK.call(DESK.admin, "DELETE", "/v1/session", "");
    DESK.call(DESK.admin, "DELETE", "/v1/tokens/" + made.get("id"), "");
  }
}
