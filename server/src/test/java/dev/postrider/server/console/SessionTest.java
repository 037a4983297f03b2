package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.CreatedToken;
import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.server.Desk;
import dev.postrider.server.Desk.Answer;
import dev.postrider.server.ServerConfig;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The cookie of a session, and what it does not open. */
@Tag("OP-2")
@Tag("OP-3")
class SessionTest {
  private static final Desk DESK = Desk.open();

  @AfterAll
  static void close() {
    DESK.close();
  }

  private static String cookie(Answer answer) {
    return answer.header("Set-Cookie").replaceFirst(";.*", "");
  }

  private static String signedIn(String token) {
    return cookie(DESK.post(null, "/v1/session", "{\"token\": \"" + token + "\"}"));
  }

  private static HttpRequest.Builder with(String cookie, String path) {
    return DESK.request(null, path).header("Cookie", cookie);
  }

  @Test
  void aTokenBecomesACookieThatScriptsCannotRead() {
    Answer answer = DESK.post(null, "/v1/session", "{\"token\": \" " + DESK.viewer + " \"}");
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.header("Set-Cookie"))
        .contains("; HttpOnly", "; SameSite=Strict", "; Path=/v1", "; Max-Age=43200");
    assertThat(answer.text()).doesNotContain(DESK.viewer);
    Answer who = DESK.send(with(cookie(answer), "/v1/session"));
    assertThat(who.json().get("role").asString()).isEqualTo("viewer");
    assertThat(DESK.send(with(cookie(answer), "/v1/messages")).status()).isEqualTo(200);
  }

  @Test
  void outsideOfLoopbackTheCookieIsForTlsOnly() throws Exception {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), DESK.server.port())) {
      String body = "{\"token\": \"" + DESK.viewer + "\"}";
      socket
          .getOutputStream()
          .write(
              ("POST /v1/session HTTP/1.1\r\nHost: outbox.example.com\r\nConnection: close\r\n"
                      + "Content-Type: application/json\r\nContent-Length: "
                      + body.length()
                      + "\r\n\r\n"
                      + body)
                  .getBytes(StandardCharsets.US_ASCII));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(answer).contains("; SameSite=Strict; Secure");
    }
  }

  /** A proxy with TLS may name the server as it reaches it, such as nginx without a setting. */
  @Test
  void theCookieIsForTlsOnlyIfTheBrowserUsesTls() {
    String body = "{\"token\": \"" + DESK.viewer + "\"}";
    for (String origin : List.of("https://outbox.example.com", "http://localhost:7080")) {
      Answer answer =
          DESK.send(
              DESK.request(null, "/v1/session")
                  .header("Origin", origin)
                  .header("Content-Type", "application/json")
                  .POST(BodyPublishers.ofString(body)));
      assertThat(answer.header("Set-Cookie").contains("; Secure"))
          .as(origin)
          .isEqualTo(origin.startsWith("https"));
    }
  }

  @Test
  void aSessionEndsBeforeItsTokenDoes() {
    CreatedToken token =
        DESK.token(NewToken.of(Desk.name("brief"), Role.VIEWER).expiringIn(Duration.ofMinutes(5)));
    Answer answer = DESK.post(null, "/v1/session", "{\"token\": \"" + token.secret() + "\"}");
    assertThat(answer.header("Set-Cookie")).containsPattern("Max-Age=(29[0-9]|300);");
  }

  @Test
  void nobodySignsInWithABadToken() {
    Answer answer = DESK.post(null, "/v1/session", "{\"token\": \"postrider_1_wrong\"}");
    assertThat(answer.status()).isEqualTo(401);
    assertThat(answer.header("Set-Cookie")).isEmpty();
    assertThat(DESK.post(null, "/v1/session", "{}").status()).isEqualTo(422);
    assertThat(DESK.send(with("postrider_session=nonsense", "/v1/messages")).status())
        .isEqualTo(401);
    assertThat(DESK.send(with("postrider_session=nonsense", "/v1/health")).status()).isEqualTo(200);
  }

  @Test
  void aRevokedTokenEndsItsSessions() throws Exception {
    CreatedToken token = DESK.token(NewToken.of(Desk.name("gone"), Role.VIEWER));
    String cookie = signedIn(token.secret());
    assertThat(DESK.send(with(cookie, "/v1/messages")).status()).isEqualTo(200);
    DESK.tokens.revoke("tests", token.id());
    assertThat(DESK.send(with(cookie, "/v1/messages")).status()).isEqualTo(401);
    assertThat(DESK.send(with(cookie, "/v1/session")).json().get("signed_in").asBoolean())
        .isFalse();
  }

  @Test
  void signingOutTakesTheCookieAway() {
    String cookie = signedIn(DESK.viewer);
    Answer out = DESK.send(with(cookie, "/v1/session").header("X-Postrider-Console", "1").DELETE());
    assertThat(out.header("Set-Cookie")).startsWith("postrider_session=; Max-Age=0;");
  }

  /** Other programs on this host are the same site: SameSite does not keep them out. */
  @Test
  void pagesOfOthersCannotUseASession() {
    String cookie = signedIn(DESK.operator);
    String pause = "/v1/topics/pause";
    String body = "{\"namespace\": \"a\", \"topic\": \"b\"}";
    HttpRequest.Builder plain =
        with(cookie, pause)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body));
    assertThat(DESK.send(plain).status()).isEqualTo(403);
    for (String site : new String[] {"same-site", "cross-site"}) {
      HttpRequest.Builder other =
          with(cookie, pause)
              .header("Content-Type", "application/json")
              .header("X-Postrider-Console", "1")
              .header("Sec-Fetch-Site", site)
              .POST(BodyPublishers.ofString(body));
      assertThat(DESK.send(other).status()).as(site).isEqualTo(403);
      assertThat(DESK.send(with(cookie, "/v1/messages").header("Sec-Fetch-Site", site)).status())
          .as(site)
          .isEqualTo(403);
    }
    HttpRequest.Builder own =
        with(cookie, pause)
            .header("Content-Type", "application/json")
            .header("X-Postrider-Console", "1")
            .header("Sec-Fetch-Site", "same-origin")
            .POST(BodyPublishers.ofString(body));
    assertThat(DESK.send(own).status()).isEqualTo(200);
    Answer preflight =
        DESK.send(
            DESK.request(null, pause)
                .header("Origin", "http://127.0.0.1:3000")
                .header("Access-Control-Request-Method", "POST")
                .header("Access-Control-Request-Headers", "x-postrider-console")
                .method("OPTIONS", BodyPublishers.noBody()));
    assertThat(preflight.header("Access-Control-Allow-Origin")).isEmpty();
  }

  /** It would act in the name of whoever made the other page. */
  @Test
  void pagesOfOthersCannotSignIn() {
    for (String site : new String[] {"same-site", "cross-site"}) {
      Answer answer =
          DESK.send(
              DESK.request(null, "/v1/session")
                  .header("Content-Type", "application/json")
                  .header("Sec-Fetch-Site", site)
                  .POST(BodyPublishers.ofString("{\"token\": \"" + DESK.viewer + "\"}")));
      assertThat(answer.status()).as(site).isEqualTo(403);
      assertThat(answer.header("Set-Cookie")).isEmpty();
    }
  }

  /** Somebody else holds the table. Whoever calls with a token may wait longer. */
  @Test
  void aPageWaitsTwoSecondsForTheDatabase() throws Exception {
    String cookie = signedIn(DESK.viewer);
    try (Connection other = DESK.postgres.dataSource().getConnection();
        Statement lock = other.createStatement()) {
      other.setAutoCommit(false);
      lock.execute("lock table postrider.audit in access exclusive mode");
      Answer answer = DESK.send(with(cookie, "/v1/audit"));
      assertThat(answer.status()).isEqualTo(503);
      assertThat(answer.text()).contains("did not answer in time");
    }
    assertThat(DESK.send(with(cookie, "/v1/audit")).status()).isEqualTo(200);
  }

  @Test
  void pagesOfNamedOriginsMayFrameTheConsole() throws Exception {
    ServerConfig config =
        ServerConfig.DEFAULT
            .withPort(0)
            .withFrameAncestors(List.of("https://ops.example.com", "https://*.example.org"));
    assertThat(header(file("/console/"), "X-Frame-Options")).isEqualTo("DENY");
    try (Desk desk = Desk.open(server -> server.config(config))) {
      HttpRequest request = desk.request(null, "/console/").build();
      HttpResponse<String> page = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
      assertThat(header(page, "Content-Security-Policy"))
          .endsWith("; frame-ancestors https://ops.example.com https://*.example.org");
      assertThat(header(page, "X-Frame-Options")).isEmpty();
      assertThat(desk.get(null, "/v1/health").header("X-Frame-Options")).isEqualTo("DENY");
    }
  }

  @Test
  void aLinkSignsInOnce() {
    String code = DESK.server.signInLink(DESK.viewer).replaceFirst(".*/", "");
    String body = "{\"code\": \"" + code + "\"}";
    assertThat(DESK.server.signInLink(DESK.viewer)).startsWith(DESK.server.consoleUrl() + "#/");
    Answer first = DESK.post(null, "/v1/session", body);
    assertThat(first.status()).isEqualTo(200);
    assertThat(DESK.send(with(cookie(first), "/v1/messages")).status()).isEqualTo(200);
    assertThat(DESK.post(null, "/v1/session", body).status()).isEqualTo(401);
  }

  @Test
  void aLinkIsGoodForAnHour() {
    long[] now = {0};
    SignInCodes codes = new SignInCodes(() -> now[0]);
    String early = codes.issue("a");
    String late = codes.issue("b");
    now[0] = Duration.ofMinutes(59).toNanos();
    assertThat(codes.redeem(early)).contains("a");
    now[0] = Duration.ofMinutes(61).toNanos();
    assertThat(codes.redeem(late)).isEmpty();
  }

  /**
   * The console's files are not part of the API, so the API's description knows nothing of them.
   */
  private static HttpResponse<String> file(String path, String... headers) throws Exception {
    HttpRequest.Builder request = DESK.request(null, path);
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
  }

  private static String header(HttpResponse<String> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  @Test
  void theFilesHaveAStrictPolicyAndAreAskedForOnce() throws Exception {
    HttpResponse<String> page = file("/console/");
    assertThat(header(page, "Content-Type")).startsWith("text/html");
    assertThat(header(page, "Content-Security-Policy"))
        .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
        .doesNotContain("unsafe");
    HttpResponse<String> again = file("/console/", "If-None-Match", header(page, "ETag"));
    assertThat(again.statusCode()).isEqualTo(304);
    assertThat(again.body()).isEmpty();
    assertThat(header(file("/"), "Location")).isEqualTo("/console/");
    assertThat(header(file("/console"), "Location")).isEqualTo("/console/");
    for (String path :
        new String[] {
          "nothing.js",
          "vendor/README.md",
          "Pages.class",
          "../Server.class",
          "vendor/",
          "app.js/x",
          "%2e%2e/Server.class",
          "vendor/htm.LICENSE.txt"
        }) {
      assertThat(file("/console/" + path).statusCode()).as(path).isIn(400, 404);
    }
  }
}
