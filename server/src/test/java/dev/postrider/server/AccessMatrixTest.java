package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.CreatedToken;
import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.access.Scope;
import dev.postrider.server.Desk.Answer;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import dev.postrider.server.stream.StreamConfig;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every endpoint with every kind of caller, against a table that is kept by hand. */
@Tag("OP-3")
@Timeout(120)
class AccessMatrixTest {
  private static final Desk DESK = Desk.open(server -> server.streams(StreamConfig.DEFAULT));

  /** Who may call it: everybody, v(iewer), o(perator), a(dmin); T where tenant tokens may, too. */
  private static final String TABLE =
      """
      GET    /v1/health               | everybody
      GET    /v1/health/live          | everybody
      GET    /v1/health/ready         | everybody
      GET    /v1/openapi.json         | everybody
      GET    /v1/session              | everybody
      POST   /v1/session              | everybody
      DELETE /v1/session              | everybody
      GET    /v1/metrics              | voa
      GET    /v1/status               | voa
      GET    /v1/messages             | voaT
      GET    /v1/messages/{id}        | voaT
      GET    /v1/messages/{id}/why    | voaT
      GET    /v1/messages/{id}/neighbours | voaT
      GET    /v1/events               | voaT
      GET    /v1/events/counts        | voaT
      GET    /v1/streams/events       | voaT
      GET    /v1/dead                 | voaT
      GET    /v1/dead/groups          | voaT
      GET    /v1/dead/{id}            | voaT
      GET    /v1/replays              | voa
      GET    /v1/replays/{id}         | voa
      GET    /v1/keys/blocked         | voa
      GET    /v1/live                 | voa
      GET    /v1/relays               | voa
      GET    /v1/leases               | voa
      GET    /v1/destinations         | voa
      GET    /v1/topics/paused        | voa
      GET    /v1/subscriptions        | voa
      GET    /v1/retention            | voa
      GET    /v1/audit                | voa
      POST   /v1/dead/{id}/requeue    | oaT
      POST   /v1/dead/{id}/discard    | oaT
      POST   /v1/dead/requeue         | oaT
      POST   /v1/dead/discard         | oaT
      POST   /v1/replays              | oa
      POST   /v1/replays/{id}/stop    | oa
      POST   /v1/replays/{id}/resume  | oa
      POST   /v1/keys/retry           | oa
      POST   /v1/keys/skip            | oa
      POST   /v1/destinations/pause   | oa
      POST   /v1/destinations/resume  | oa
      POST   /v1/topics/pause         | oa
      POST   /v1/topics/resume        | oa
      POST   /v1/subscriptions        | oa
      POST   /v1/subscriptions/remove | oa
      POST   /v1/subscriptions/discard | oa
      POST   /v1/subscriptions/pause  | oa
      POST   /v1/subscriptions/resume | oa
      POST   /v1/messages             | aT
      POST   /v1/messages/batch       | aT
      GET    /v1/tokens               | a
      POST   /v1/tokens               | a
      DELETE /v1/tokens/{id}          | a
      """;

  private static final Map<String, String> ALLOWED = table();

  private static final String CONSOLE = "X-Postrider-Console";
  private static final String SITE = "Sec-Fetch-Site";

  private static Map<String, String> table() {
    Map<String, String> table = new LinkedHashMap<>();
    TABLE
        .lines()
        .map(line -> line.split("\\|"))
        .forEach(cells -> table.put(cells[0].trim().replaceAll(" +", " "), cells[1].trim()));
    return table;
  }

  @AfterAll
  static void close() {
    DESK.close();
  }

  @Test
  void theTableHasEveryEndpointAndNoOther() {
    assertThat(DESK.server.endpoints().stream().map(Endpoint::name))
        .containsExactlyInAnyOrderElementsOf(ALLOWED.keySet());
  }

  @Test
  void theDocumentSaysHowManyEndpointsWereTried() throws Exception {
    assertThat(Files.readString(Path.of("../docs/security.md")))
        .contains(ALLOWED.size() + " endpoints × 7 bad callers")
        .contains(ALLOWED.size() + " endpoints × 3 roles × 4");
  }

  @Test
  void nobodyGetsPastWithoutAGoodToken() throws Exception {
    CreatedToken revoked = DESK.token(NewToken.of("revoked", Role.ADMIN));
    DESK.tokens.revoke("tests", revoked.id());
    CreatedToken expired =
        DESK.token(NewToken.of("expired", Role.ADMIN).expiringIn(Duration.ofSeconds(1)));
    DESK.postgres.execute(
        "update postrider.token set expires_at = now() - interval '1 s' where name = 'expired'");
    String other = DESK.admin.substring(0, DESK.admin.length() - 2) + "zz";
    Map<String, String> callers = new LinkedHashMap<>();
    callers.put("none", null);
    callers.put("empty", "");
    callers.put("gibberish", "letmein");
    callers.put("wrong secret", other);
    callers.put("unknown number", DESK.admin.replaceFirst("_[0-9]+_", "_999999_"));
    callers.put("revoked", revoked.secret());
    callers.put("expired", expired.secret());

    List<String> wrong = new ArrayList<>();
    callers.forEach(
        (caller, token) -> {
          for (Endpoint endpoint : DESK.server.endpoints()) {
            boolean open = ALLOWED.get(endpoint.name()).equals("everybody");
            Answer answer = call(token, endpoint);
            if (open == (answer.status() == 401)) {
              wrong.add(caller + " " + endpoint.name() + " -> " + answer.status());
            }
          }
        });
    assertThat(wrong).isEmpty();
  }

  @Test
  void eachRoleMayDoWhatTheTableSays() {
    check('v', DESK.viewer);
    check('o', DESK.operator);
    check('a', DESK.admin);
  }

  private static void check(char role, String token) {
    List<String> wrong = new ArrayList<>();
    for (Endpoint endpoint : DESK.server.endpoints()) {
      String allowed = ALLOWED.get(endpoint.name());
      boolean may = allowed.equals("everybody") || allowed.indexOf(role) >= 0;
      Answer answer = call(token, endpoint);
      if (may ? answer.status() == 401 || answer.status() == 403 : answer.status() != 403) {
        wrong.add(role + " " + endpoint.name() + " -> " + answer.status() + answer.text());
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  @Tag("CH-5")
  void tokensOfATenantGetOnlyToWhatKeepsToTheirTenant() {
    String scoped =
        DESK.token(NewToken.of("scoped", Role.ADMIN).within(Scope.tenant("t"))).secret();
    String namespaced =
        DESK.token(NewToken.of("namespaced", Role.ADMIN).within(Scope.namespace("n"))).secret();
    String ofOneTopic =
        DESK.token(
                NewToken.of("of-one-topic", Role.ADMIN).within(new Scope(null, "n", List.of("t"))))
            .secret();
    List<String> wrong = new ArrayList<>();
    for (Endpoint endpoint : DESK.server.endpoints()) {
      String allowed = ALLOWED.get(endpoint.name());
      boolean may = allowed.equals("everybody") || allowed.endsWith("T");
      for (String token : List.of(scoped, namespaced, ofOneTopic)) {
        Answer answer = call(token, endpoint);
        if (may == (answer.status() == 403)) {
          wrong.add(endpoint.name() + " -> " + answer.status() + answer.text());
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  @Tag("OP-2")
  void aSessionMayDoWhatItsTokenMayForPagesOfThisServerOnly() {
    Map<Character, String> roles = Map.of('v', DESK.viewer, 'o', DESK.operator, 'a', DESK.admin);
    List<String> wrong = new ArrayList<>();
    roles.forEach(
        (role, token) -> {
          String cookie =
              DESK.post(null, "/v1/session", "{\"token\": \"" + token + "\"}")
                  .header("Set-Cookie")
                  .replaceFirst(";.*", "");
          for (Endpoint endpoint : DESK.server.endpoints()) {
            String allowed = ALLOWED.get(endpoint.name());
            boolean may = allowed.equals("everybody") || allowed.indexOf(role) >= 0;
            String own = "same-origin";
            if (may == (status(endpoint, "Cookie", cookie, CONSOLE, "1", SITE, own) == 403)) {
              wrong.add(role + " " + endpoint.name());
            }
            for (String other : List.of("same-site", "cross-site")) {
              if (status(endpoint, "Cookie", cookie, CONSOLE, "1", SITE, other) != 403) {
                wrong.add(role + " " + other + " " + endpoint.name());
              }
            }
            // As forms of browsers that do not name the site.
            if (!endpoint.method().name().equals("GET")
                && status(endpoint, "Cookie", cookie) != 403) {
              wrong.add(role + " without the header " + endpoint.name());
            }
          }
        });
    assertThat(wrong).isEmpty();
  }

  @Test
  void aTokenWithOnePermissionHasNoOther() {
    String metrics = DESK.token(NewToken.of("scraper", Permission.METRICS)).secret();
    assertThat(DESK.get(metrics, "/v1/metrics").status()).isEqualTo(200);
    assertThat(DESK.get(metrics, "/v1/messages").status()).isEqualTo(403);
    String payload = DESK.token(NewToken.of("payloads", Permission.PAYLOAD_READ)).secret();
    assertThat(DESK.get(payload, "/v1/messages").status()).isEqualTo(403);
  }

  @Test
  void aRevokedTokenIsRefusedAtOnce() throws Exception {
    CreatedToken token = DESK.token(NewToken.of("short-lived", Role.VIEWER));
    assertThat(DESK.get(token.secret(), "/v1/messages").status()).isEqualTo(200);
    Answer revoked = DESK.call(DESK.admin, "DELETE", "/v1/tokens/" + token.id(), "");
    assertThat(revoked.status()).isEqualTo(200);
    Answer refused = DESK.get(token.secret(), "/v1/messages");
    assertThat(refused.status()).isEqualTo(401);
    assertThat(refused.header("WWW-Authenticate")).startsWith("Bearer");
    assertThat(refused.text()).doesNotContain(token.secret());
  }

  @Test
  void aTokenOfTwoTopicsHasToNameOneAndGetsNoOther() {
    String token =
        DESK.token(
                NewToken.of("of-two-topics", Role.ADMIN)
                    .within(new Scope(null, "n", List.of("t", "u"))))
            .secret();
    for (String path : List.of("/v1/messages", "/v1/events", "/v1/dead", "/v1/streams/events")) {
      assertThat(DESK.get(token, path).status()).as(path).isEqualTo(403);
      assertThat(DESK.get(token, path + "?topic=other").status()).as(path).isEqualTo(403);
      assertThat(DESK.get(token, path + "?topic=t&namespace=other").status())
          .as(path)
          .isEqualTo(403);
    }
    assertThat(DESK.get(token, "/v1/messages?topic=u").status()).isEqualTo(200);
  }

  private static int status(Endpoint endpoint, String... headers) {
    return DESK.send(
            DESK.request(null, path(endpoint))
                .headers(headers)
                .method(endpoint.method().name(), BodyPublishers.noBody()))
        .status();
  }

  /** With an empty body, which no act accepts: what matters is whether it gets that far. */
  private static Answer call(String token, Endpoint endpoint) {
    return DESK.call(token, endpoint.method().name(), path(endpoint), "");
  }

  private static String path(Endpoint endpoint) {
    String path = endpoint.path();
    for (Field field : endpoint.takes().path()) {
      String value = field.kind() == Kind.ID ? UUID.randomUUID().toString() : "987654";
      path = path.replace("{" + field.name() + "}", value);
    }
    // A stream that is let in would have no end.
    String query =
        path.startsWith("/v1/streams/") ? "?after=nowhere" : path.equals("/v1/live") ? "?no" : "";
    return path + query;
  }
}
