package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.access.Scope;
import dev.postrider.server.Desk.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

@Tag("CH-7")
class DeadLetterCallsTest {
  private static final Desk DESK = Desk.open();

  @AfterAll
  static void close() {
    DESK.close();
  }

  private static UUID dead(String arguments, String code) {
    UUID id = DESK.enqueue(arguments);
    DESK.carry(3, code);
    return id;
  }

  private static List<String> list(String query) {
    List<String> ids = new ArrayList<>();
    String next = "";
    do {
      JsonNode page = DESK.get(DESK.viewer, "/v1/dead?limit=2" + query + next).json();
      page.get("items").forEach(item -> ids.add(item.get("id").stringValue()));
      next = page.has("next") ? "&cursor=" + page.get("next").stringValue() : "";
    } while (!next.isEmpty());
    return ids;
  }

  private static JsonNode lastAudit() {
    return DESK.get(DESK.viewer, "/v1/audit?limit=1").json().get("items").get(0);
  }

  @Test
  void listsAndInspects() {
    UUID a = dead("'list', 'a', tenant => 't'", "E1");
    UUID b = dead("'list', 'b'", "E2");
    UUID c = dead("'list', 'a'", "E2");
    assertThat(list("&namespace=list")).containsExactly(a.toString(), b.toString(), c.toString());
    assertThat(list("&namespace=list&order=newest"))
        .containsExactly(c.toString(), b.toString(), a.toString());
    assertThat(list("&namespace=list&code=E2")).containsExactly(b.toString(), c.toString());
    JsonNode one = DESK.get(DESK.viewer, "/v1/dead/" + a).json();
    assertThat(one.get("code").stringValue()).isEqualTo("E1");
    assertThat(one.get("error").stringValue()).isEqualTo("it broke");
    assertThat(one.get("namespace").stringValue()).isEqualTo("list");
    JsonNode history = DESK.get(DESK.viewer, "/v1/messages/" + a).json().get("history");
    assertThat(history.get(0).get("state").stringValue()).isEqualTo("failed");
  }

  @Test
  @Tag("OP-3")
  void requeuesAndDiscardsOneAndSaysWhoDidIt() {
    UUID id = dead("'one', 'a'", "E1");
    Answer discarded =
        DESK.post(DESK.operator, "/v1/dead/" + id + "/discard", "{\"reason\": \"customer gone\"}");
    assertThat(discarded.json().get("count").intValue()).isEqualTo(1);
    JsonNode act = lastAudit();
    // The token's name anybody with the right can choose. Its number and the login they cannot.
    String number = DESK.operator.split("_", -1)[1];
    assertThat(act.get("actor").stringValue())
        .startsWith("operator-")
        .endsWith(" (token " + number + ")");
    assertThat(act.get("login").stringValue())
        .isEqualTo(DESK.postgres.column("select session_user").get(0));
    assertThat(act.get("action").stringValue()).isEqualTo("dead.discard");
    assertThat(act.get("count").intValue()).isEqualTo(1);
    assertThat(act.get("detail").toString()).contains("customer gone");

    Answer again =
        DESK.post(DESK.operator, "/v1/dead/" + id + "/discard", "{\"reason\": \"twice\"}");
    assertThat(again.status()).isEqualTo(409);

    Answer requeued = DESK.post(DESK.operator, "/v1/dead/" + id + "/requeue", "");
    assertThat(requeued.status()).as(requeued.text()).isEqualTo(200);
    assertThat(lastAudit().get("action").stringValue()).isEqualTo("dead.requeue");
    assertThat(DESK.get(DESK.viewer, "/v1/messages/" + id).json().get("state").stringValue())
        .isEqualTo("pending");
    assertThat(DESK.post(DESK.operator, "/v1/dead/" + id + "/requeue", "").status()).isEqualTo(404);
    DESK.carry(1, "ok");
  }

  @Test
  void aDiscardNeedsAReason() {
    UUID id = dead("'reason', 'a'", "E1");
    assertThat(DESK.post(DESK.operator, "/v1/dead/" + id + "/discard", "{}").status())
        .isEqualTo(422);
    assertThat(
            DESK.post(
                    DESK.operator, "/v1/dead/discard", "{\"filter\": {\"namespace\": \"reason\"}}")
                .status())
        .isEqualTo(422);
    assertThat(list("&namespace=reason")).hasSize(1);
  }

  @Test
  @Tag("OP-3")
  void manyByFilterLeaveOneAuditRowWithFilterAndCount() {
    for (int i = 0; i < 5; i++) {
      dead("'many', 'a'", i < 3 ? "E1" : "E2");
    }
    Answer answer =
        DESK.post(
            DESK.operator,
            "/v1/dead/discard",
            "{\"reason\": \"bulk\", \"filter\": {\"namespace\": \"many\", \"code\": \"E1\"}}");
    assertThat(answer.json().get("count").intValue()).as(answer.text()).isEqualTo(3);
    assertThat(answer.json().get("complete").booleanValue()).isTrue();
    JsonNode act = lastAudit();
    assertThat(act.get("count").intValue()).isEqualTo(3);
    assertThat(act.get("detail").toString()).contains("\"many\"", "\"E1\"", "bulk");
    assertThat(list("&namespace=many")).hasSize(2);

    Answer requeued =
        DESK.post(DESK.operator, "/v1/dead/requeue", "{\"filter\": {\"namespace\": \"many\"}}");
    assertThat(requeued.json().get("count").intValue()).isEqualTo(2);
    DESK.carry(1, "ok");
  }

  @Test
  void everythingHasToBeAskedForByName() {
    UUID id = dead("'guard', 'a'", "E1");
    for (String body :
        List.of(
            "{}",
            "{\"filter\": {}}",
            "{\"ids\": [\"" + id + "\"], \"all\": true}",
            "{\"filter\": {\"namespace\": \"guard\"}, \"all\": true}",
            "{\"filter\": {\"namespase\": \"guard\"}}",
            "{\"ids\": []}")) {
      assertThat(DESK.post(DESK.operator, "/v1/dead/requeue", body).status())
          .as(body)
          .isEqualTo(422);
    }
    assertThat(list("&namespace=guard")).containsExactly(id.toString());
    Answer ids = DESK.post(DESK.operator, "/v1/dead/requeue", "{\"ids\": [\"" + id + "\"]}");
    assertThat(ids.json().get("count").intValue()).isEqualTo(1);
    DESK.carry(1, "ok");
  }

  @Test
  @Tag("CH-5")
  void anOperatorOfATenantActsOnlyOnIts() {
    UUID own = dead("'scope', 'a', tenant => 't'", "E1");
    UUID other = dead("'scope', 'a', tenant => 'u'", "E1");
    String token =
        DESK.token(NewToken.of("operator-of-t", Role.OPERATOR).within(Scope.tenant("t"))).secret();
    assertThat(DESK.post(token, "/v1/dead/" + other + "/requeue", "").status()).isEqualTo(404);
    assertThat(DESK.post(token, "/v1/dead/requeue", "{\"ids\": [\"" + other + "\"]}").status())
        .isEqualTo(403);
    Answer all = DESK.post(token, "/v1/dead/discard", "{\"all\": true, \"reason\": \"r\"}");
    assertThat(all.status()).as(all.text()).isEqualTo(200);
    assertThat(list("&namespace=scope")).contains(other.toString()).doesNotContain(own.toString());
  }

  @Test
  @Tag("PO-6")
  void blockedKeysAreListedSkippedAndRetried() {
    DESK.enqueue("'keys', 'a', key => 'k1'");
    DESK.enqueue("'keys', 'a', key => 'k2'");
    DESK.carry(4, "E9");
    DESK.enqueue("'keys', 'a', key => 'k1'");
    JsonNode keys = DESK.get(DESK.viewer, "/v1/keys/blocked?limit=1").json();
    assertThat(keys.get("items")).hasSize(1);
    JsonNode more =
        DESK.get(DESK.viewer, "/v1/keys/blocked?cursor=" + keys.get("next").stringValue()).json();
    assertThat(more.get("items")).hasSize(1);
    assertThat(more.get("items").get(0).get("blocked_seconds").isNumber()).isTrue();
    Answer skipped =
        DESK.post(
            DESK.operator,
            "/v1/keys/skip",
            "{\"namespace\": \"keys\", \"key\": \"k1\", \"reason\": \"bad\"}");
    assertThat(skipped.status()).as(skipped.text()).isEqualTo(200);
    assertThat(lastAudit().get("action").stringValue()).isEqualTo("dead.discard");
    Answer retried =
        DESK.post(DESK.operator, "/v1/keys/retry", "{\"namespace\": \"keys\", \"key\": \"k2\"}");
    assertThat(retried.status()).isEqualTo(200);
    assertThat(
            DESK.post(DESK.operator, "/v1/keys/retry", "{\"namespace\": \"keys\", \"key\": \"k2\"}")
                .status())
        .isEqualTo(404);
    DESK.carry(1, "ok");
    assertThat(DESK.get(DESK.viewer, "/v1/keys/blocked").json().get("items")).isEmpty();
  }
}
