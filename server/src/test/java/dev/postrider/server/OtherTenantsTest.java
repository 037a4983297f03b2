package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.access.Scope;
import dev.postrider.server.Desk.Answer;
import dev.postrider.server.api.Endpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every endpoint that limited tokens may call, with messages that they must not know of. */
@Tag("CH-5")
@Tag("OP-3")
class OtherTenantsTest {
  private static final Desk DESK = Desk.open();

  /** What is sent to each; of those that find by id it is the victim's. */
  private static final Map<String, String> CALLS =
      Map.ofEntries(
          Map.entry("GET /v1/messages", ""),
          Map.entry("GET /v1/messages/{id}", ""),
          Map.entry("GET /v1/messages/{id}/why", ""),
          Map.entry("GET /v1/messages/{id}/neighbours", ""),
          Map.entry("GET /v1/events", ""),
          Map.entry("GET /v1/events/counts", ""),
          Map.entry("GET /v1/dead", ""),
          Map.entry("GET /v1/dead/groups", ""),
          Map.entry("GET /v1/dead/{id}", ""),
          Map.entry("POST /v1/dead/{id}/requeue", ""),
          Map.entry("POST /v1/dead/{id}/discard", "{\"reason\": \"theirs\"}"),
          Map.entry("POST /v1/dead/discard", "{\"all\": true, \"reason\": \"theirs\"}"),
          Map.entry("POST /v1/dead/requeue", "{\"all\": true}"));

  @AfterAll
  static void close() {
    DESK.close();
  }

  private static String token(Scope scope) {
    return DESK.token(NewToken.of(Desk.name("limited"), Role.ADMIN).within(scope)).secret();
  }

  private static Answer call(String token, String endpoint, UUID id) {
    String[] parts = endpoint.replace("{id}", id.toString()).split(" ", -1);
    String query =
        endpoint.endsWith("/counts")
            ? "?from=%s&to=%s&interval=PT24H"
                .formatted(
                    java.time.Instant.now().minusSeconds(86_400),
                    java.time.Instant.now().plusSeconds(86_400))
            : "";
    return DESK.call(token, parts[0], parts[1] + query, CALLS.get(endpoint));
  }

  @Test
  void limitedTokensSeeAndTouchNothingElse() {
    // Streams and enqueue have tests of their own.
    assertThat(
            DESK.server.endpoints().stream()
                .filter(endpoint -> endpoint.guard().scoped())
                .filter(endpoint -> endpoint.guard().permission() != null)
                .map(Endpoint::name)
                .filter(name -> !name.matches("GET /v1/streams/.*|POST /v1/messages.*")))
        .containsExactlyInAnyOrderElementsOf(CALLS.keySet());
    UUID victim =
        DESK.enqueue(
            "'victim', 'victim', tenant => 'victim', key => 'victim', event_type => 'victim',"
                + " aggregate_type => 'victim', aggregate_id => 'victim'");
    DESK.enqueue("'n', 't', tenant => 't'");
    DESK.carry(3, "E1");
    for (String list : List.of("/v1/messages", "/v1/events", "/v1/dead", "/v1/dead/groups")) {
      assertThat(call(DESK.admin, "GET " + list, victim).text()).as(list).contains("victim");
    }
    List<String> wrong = new ArrayList<>();
    for (Scope scope :
        List.of(Scope.tenant("t"), Scope.namespace("n"), new Scope(null, "n", List.of("t")))) {
      String token = token(scope);
      CALLS
          .keySet()
          .forEach(
              endpoint -> {
                Answer answer = call(token, endpoint, victim);
                boolean byId = endpoint.contains("{id}");
                if (answer.status() != (byId ? 404 : 200) || answer.text().contains("victim")) {
                  wrong.add(scope + " " + endpoint + " -> " + answer.status() + answer.text());
                }
              });
    }
    assertThat(wrong).isEmpty();
    assertThat(
            DESK.postgres.count(
                "select count(*) from postrider.dead_letter where resolved_at is null"
                    + " and message_id = '%s'".formatted(victim)))
        .isOne();
  }

  /** Services in the database may put messages of several tenants under one key. */
  @Test
  void whoWaitsBehindAnotherTenantDoesNotLearnWhom() {
    UUID head = DESK.enqueue("'n', 'shared', tenant => 'other', key => 'k'");
    UUID own = DESK.enqueue("'n', 'shared', tenant => 't', key => 'k'");
    String why = "GET /v1/messages/{id}/why";
    assertThat(call(DESK.admin, why, own).text()).contains(head.toString());
    Answer answer = call(token(Scope.tenant("t")), why, own);
    assertThat(answer.text())
        .contains("It waits behind another message of the same key.")
        .doesNotContain(head.toString());
    String neighbours = "GET /v1/messages/{id}/neighbours";
    assertThat(call(DESK.admin, neighbours, own).text()).contains(head.toString());
    assertThat(call(token(Scope.tenant("t")), neighbours, own).text())
        .doesNotContain(head.toString());
  }
}
