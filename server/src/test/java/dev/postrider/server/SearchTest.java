package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
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

class SearchTest {
  private static final Desk DESK = Desk.open();
  private static final UUID A = DESK.enqueue("'shop', 'orders', key => 'k', tenant => 't'");
  private static final UUID B =
      DESK.enqueue("'shop', 'bills', aggregate_type => 'bill', aggregate_id => '1'");
  private static final UUID C =
      DESK.enqueue("'shop', 'orders', key => 'k', tenant => 't', event_type => 'paid'");
  private static final UUID D =
      DESK.enqueue("'hr', 'staff', tenant => 'u', headers => '{\"trace\": \"abc\"}'");

  @AfterAll
  static void close() {
    DESK.close();
  }

  private static List<UUID> all(String token, String query, int limit) {
    List<UUID> found = new ArrayList<>();
    String next = "";
    do {
      Answer answer = DESK.get(token, "/v1/messages?limit=" + limit + query + next);
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      JsonNode items = answer.json().get("items");
      assertThat(items.size()).isLessThanOrEqualTo(limit);
      items.forEach(item -> found.add(UUID.fromString(item.get("id").stringValue())));
      assertThat(answer.json().has("total")).isFalse();
      JsonNode cursor = answer.json().get("next");
      next = cursor == null ? "" : "&cursor=" + cursor.stringValue();
    } while (!next.isEmpty());
    return found;
  }

  @Test
  @Tag("HE-9")
  @Tag("OP-3")
  void pagesByEveryCondition() {
    for (int limit : new int[] {1, 3, 100}) {
      assertThat(all(DESK.viewer, "", limit)).containsExactly(D, C, B, A);
      assertThat(all(DESK.viewer, "&namespace=shop&topic=orders", limit)).containsExactly(C, A);
      assertThat(all(DESK.viewer, "&namespace=shop&key=k", limit)).containsExactly(C, A);
      assertThat(all(DESK.viewer, "&tenant=u", limit)).containsExactly(D);
      assertThat(all(DESK.viewer, "&event_type=paid", limit)).containsExactly(C);
      assertThat(all(DESK.viewer, "&aggregate_type=bill&aggregate_id=1", limit)).containsExactly(B);
      assertThat(all(DESK.viewer, "&from=2100-01-01T00:00:00Z", limit)).isEmpty();
    }
  }

  @Test
  @Tag("OP-3")
  void payloadAndHeadersNeedTheirOwnPermission() {
    for (String token : List.of(DESK.viewer, DESK.operator, DESK.admin)) {
      JsonNode withheld = DESK.get(token, "/v1/messages/" + D).json();
      assertThat(withheld.has("payload")).isFalse();
      assertThat(withheld.has("headers")).isFalse();
      assertThat(withheld.get("withheld").stringValue()).contains("payload:read");
      assertThat(withheld.get("payload_bytes").intValue()).isPositive();
      assertThat(withheld.get("state").stringValue()).isEqualTo("pending");
      assertThat(withheld.get("topic").stringValue()).isEqualTo("staff");
    }
    String reader =
        DESK.token(NewToken.of("reader", Role.VIEWER).with(Permission.PAYLOAD_READ)).secret();
    JsonNode shown = DESK.get(reader, "/v1/messages/" + D).json();
    assertThat(shown.has("withheld")).isFalse();
    assertThat(shown.get("payload").get("n").intValue()).isEqualTo(1);
    assertThat(shown.get("headers").get("trace").stringValue()).isEqualTo("abc");
  }

  @Test
  @Tag("CH-5")
  void aTenantSeesOnlyItsOwn() {
    String scoped =
        DESK.token(NewToken.of("tenant-t", Role.VIEWER).within(Scope.tenant("t"))).secret();
    assertThat(all(scoped, "", 100)).containsExactly(C, A);
    assertThat(DESK.get(scoped, "/v1/messages?tenant=u").status()).isEqualTo(403);
    assertThat(DESK.get(scoped, "/v1/messages/" + A).status()).isEqualTo(200);
    assertThat(DESK.get(scoped, "/v1/messages/" + D).status()).isEqualTo(404);
    assertThat(DESK.get(scoped, "/v1/messages/" + B).status()).as("no tenant").isEqualTo(404);
    String namespaced =
        DESK.token(NewToken.of("hr-only", Role.VIEWER).within(Scope.namespace("hr"))).secret();
    assertThat(all(namespaced, "", 100)).containsExactly(D);
  }

  @Test
  void aMessageThatIsNotThereIsNotFound() {
    assertThat(DESK.get(DESK.viewer, "/v1/messages/" + UUID.randomUUID()).status()).isEqualTo(404);
  }
}
