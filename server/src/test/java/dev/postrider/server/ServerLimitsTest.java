package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.access.CreatedToken;
import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.server.Desk.Answer;
import dev.postrider.server.Limits.Connections;
import dev.postrider.server.Limits.Rate;
import dev.postrider.server.Limits.Times;
import dev.postrider.server.access.Proxies;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("OP-3")
class ServerLimitsTest {
  private static Desk limited(Limits limits) {
    return Desk.open(builder -> builder.config(Desk.CONFIG.withLimits(limits)));
  }

  @Test
  void eachTokenHasARateOfItsOwn() {
    try (Desk desk = limited(Limits.DEFAULT.withRate(0.01, 3))) {
      for (int i = 0; i < 3; i++) {
        assertThat(desk.get(desk.viewer, "/v1/messages").status()).isEqualTo(200);
      }
      Answer refused = desk.get(desk.viewer, "/v1/messages");
      assertThat(refused.status()).isEqualTo(429);
      assertThat(Integer.parseInt(refused.header("Retry-After"))).isBetween(1, 100);
      assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
      assertThat(desk.get(desk.operator, "/v1/messages").status()).isEqualTo(200);
    }
  }

  @Test
  void callsBeyondTheRateAreNotLookedUp() {
    try (Desk desk = limited(Limits.DEFAULT.withRate(0.01, 1))) {
      assertThat(desk.get(desk.viewer, "/v1/messages").status()).isEqualTo(200);
      int before = desk.connections.get();
      long start = System.nanoTime();
      for (int i = 0; i < 200; i++) {
        assertThat(desk.get(desk.viewer, "/v1/messages").status()).isEqualTo(429);
      }
      assertThat(desk.connections.get() - before).isLessThan(20 + byItself(start));
    }
  }

  @Test
  void guessingTokensIsLimitedByAddressAndHarmsNobodyElseThere() {
    try (Desk desk = limited(Limits.DEFAULT.withRate(0.01, 3))) {
      for (int i = 0; i < 3; i++) {
        assertThat(desk.get("guess", "/v1/messages").status()).isEqualTo(401);
      }
      assertThat(desk.get("guess", "/v1/messages").status()).isEqualTo(429);
      assertThat(desk.get(null, "/v1/openapi.json").status()).isEqualTo(429);
      assertThat(desk.get(desk.viewer, "/v1/messages").status()).isEqualTo(200);
      for (int i = 0; i < 10; i++) {
        assertThat(desk.get(null, "/v1/health/live").status()).isEqualTo(200);
        assertThat(desk.get("guess", "/v1/health").status()).isIn(200, 503);
      }
    }
  }

  /** Every guess is well-formed, so that only the database could tell that it is bad. */
  @Test
  void guessesCostTheDatabaseNoMoreThanTheRateAllows() {
    try (Desk desk = limited(Limits.DEFAULT.withRate(0.01, 20))) {
      assertThat(desk.get(desk.viewer, "/v1/messages").status()).isEqualTo(200);
      int before = desk.connections.get();
      long start = System.nanoTime();
      int answered = 0;
      for (int i = 0; i < 400; i++) {
        String guess = "postrider_%d_%s".formatted(i + 1, "g".repeat(43));
        int status = desk.get(guess, "/v1/messages").status();
        assertThat(status).isIn(401, 429);
        answered += status == 401 ? 1 : 0;
        // 503 tells that the database was slow. No limit applies.
        assertThat(desk.get(guess, "/v1/health").status()).isIn(200, 503);
        assertThat(desk.get(guess, "/v1/metrics").status()).isIn(401, 429);
      }
      assertThat(answered).isBetween(1, 20);
      assertThat(desk.connections.get() - before).isLessThan(100 + byItself(start));
      // It was good lately, so it is looked up. Its rate is its own.
      for (int i = 0; i < 10; i++) {
        assertThat(desk.get(desk.viewer, "/v1/messages").status()).isEqualTo(200);
      }
      // Good tokens that come for the first time have their marks.
      assertThat(desk.get(desk.operator, "/v1/messages").status()).isEqualTo(200);
      String fresh = desk.token(NewToken.of("fresh", Role.VIEWER)).secret();
      await().until(() -> desk.get(fresh, "/v1/messages").status() == 200);
    }
  }

  /**
   * A server reads the marks of good tokens once a second, and looks at the backlog, however long
   * the calls of a test take.
   */
  private static int byItself(long startNanos) {
    return (int) (5 * (1 + (System.nanoTime() - startNanos) / 1_000_000_000));
  }

  @Test
  void aTokenThatIsRevokedIsLookedUpNoMoreThanAGuess() throws Exception {
    try (Desk desk = limited(Limits.DEFAULT.withRate(0.01, 1))) {
      CreatedToken token = desk.token(NewToken.of("never-used", Role.VIEWER));
      for (int i = 0; i < 2; i++) { // the second one has the marks read, of this token too
        desk.get("postrider_999_" + "g".repeat(43), "/v1/messages");
      }
      desk.tokens.revoke("tests", token.id());
      int before = desk.connections.get();
      long start = System.nanoTime();
      for (int i = 0; i < 300; i++) {
        assertThat(desk.get(token.secret(), "/v1/messages").status()).isEqualTo(429);
      }
      assertThat(desk.connections.get() - before).isLessThan(20 + byItself(start));
    }
  }

  @Test
  void aTokenThatWasGoodAndIsRevokedIsAGuess() throws Exception {
    try (Desk desk = limited(Limits.DEFAULT.withRate(0.01, 2))) {
      CreatedToken token = desk.token(NewToken.of("leaver", Role.VIEWER));
      assertThat(desk.get(token.secret(), "/v1/messages").status()).isEqualTo(200);
      desk.tokens.revoke("tests", token.id());
      assertThat(desk.get(token.secret(), "/v1/messages").status()).isEqualTo(401);
      assertThat(desk.get("guess", "/v1/messages").status()).isEqualTo(401);
      assertThat(desk.get(token.secret(), "/v1/messages").status()).isEqualTo(429);
    }
  }

  @Test
  void callersBehindATrustedProxyAreToldApart() {
    Proxies local = Proxies.of(List.of("127.0.0.0/8", "10.1.0.0/16"));
    try (Desk desk =
        Desk.open(
            builder ->
                builder.config(
                    Desk.CONFIG.withProxies(local).withLimits(Limits.DEFAULT.withRate(0.01, 1))))) {
      assertThat(guessFor(desk, "192.0.2.1")).isEqualTo(401);
      assertThat(guessFor(desk, "192.0.2.1")).isEqualTo(429);
      assertThat(guessFor(desk, "198.51.100.7, 192.0.2.1, 10.1.2.3")).isEqualTo(429);
      assertThat(guessFor(desk, "192.0.2.2")).isEqualTo(401);
      assertThat(guessFor(desk, "2001:db8:0:1::1")).isEqualTo(401);
      assertThat(guessFor(desk, "[2001:db8:0:1:ffff::2]:4711")).isEqualTo(429);
      assertThat(guessFor(desk, "2001:db8:0:2::1")).isEqualTo(401);
    }
  }

  @Test
  void callersByIpv6AreToldApartLikeOthers() {
    assumeThat(has("::1")).isTrue();
    ServerConfig config = Desk.CONFIG.withHost("::1").withLimits(Limits.DEFAULT.withRate(0.01, 1));
    Proxies local = Proxies.of(List.of("::1"));
    try (Desk desk = Desk.open(builder -> builder.config(config.withProxies(local)))) {
      assertThat(desk.server.url()).startsWith("http://[::1]:");
      assertThat(guessFor(desk, "192.0.2.1")).isEqualTo(401);
      assertThat(guessFor(desk, "192.0.2.1")).isEqualTo(429);
      assertThat(guessFor(desk, "192.0.2.2")).isEqualTo(401);
      assertThat(guessFor(desk, "2001:db8:0:1::1")).isEqualTo(401);
      assertThat(guessFor(desk, "2001:db8:0:1::2, ::1")).isEqualTo(429);
    }
  }

  static boolean has(String address) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getAllByName(address)[0], 0));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void whatStrangersSayAboutTheirAddressIsNotBelieved() {
    try (Desk desk = limited(Limits.DEFAULT.withRate(0.01, 1))) {
      assertThat(guessFor(desk, "192.0.2.1")).isEqualTo(401);
      assertThat(guessFor(desk, "192.0.2.2")).isEqualTo(429);
    }
  }

  private static int guessFor(Desk desk, String address) {
    return desk.send(desk.request("guess", "/v1/messages").header("X-Forwarded-For", address))
        .status();
  }

  @Test
  void anotherMethodCannotBeAskedForByAHeader() {
    try (Desk desk = Desk.open()) {
      Answer answer =
          desk.send(
              desk.request(desk.admin, "/v1/messages").header("X-HTTP-Method-Override", "DELETE"));
      assertThat(answer.status()).isEqualTo(200);
    }
  }

  @Test
  void answersCarrySecurityHeaders() {
    try (Desk desk = Desk.open()) {
      for (String path : new String[] {"/v1/health", "/v1/nothing", "/v1/messages"}) {
        Answer answer = desk.get(null, path);
        assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(answer.header("Content-Security-Policy")).contains("default-src 'none'");
        assertThat(answer.header("X-Frame-Options")).isEqualTo("DENY");
        assertThat(answer.header("Cache-Control")).isEqualTo("no-store");
        assertThat(answer.header("Server")).isEmpty();
      }
    }
  }

  @Test
  void onlyLoopbackWithoutTls() {
    assertThat(ServerConfig.DEFAULT.host()).isEqualTo("127.0.0.1");
    assertThatThrownBy(() -> ServerConfig.DEFAULT.withHost("0.0.0.0")).hasMessageContaining("TLS");
    assertThatThrownBy(() -> ServerConfig.DEFAULT.withHost("::")).hasMessageContaining("TLS");
    assertThatCode(() -> ServerConfig.DEFAULT.withHost("::1")).doesNotThrowAnyException();
    assertThatCode(() -> ServerConfig.DEFAULT.withPlainAllowed().withHost("0.0.0.0"))
        .doesNotThrowAnyException();
  }

  @Test
  @Tag("HE-13")
  void everythingWrongWithTheConfigurationIsSaidAtOnce() {
    assertThatThrownBy(
            () ->
                new ServerConfig(
                    "0.0.0.0",
                    70_000,
                    null,
                    false,
                    Proxies.NONE,
                    new Limits(
                        1,
                        1,
                        new Times(Duration.ZERO, Duration.ZERO, Duration.ZERO, 0),
                        new Connections(0, 0),
                        new Rate(0, 0)),
                    Duration.ZERO,
                    List.of("https://a; script-src *")))
        .hasMessageContaining("frame ancestor must be an origin")
        .hasMessageContaining("port must be")
        .hasMessageContaining("request bytes")
        .hasMessageContaining("head time")
        .hasMessageContaining("request time")
        .hasMessageContaining("idle time")
        .hasMessageContaining("bytes per second")
        .hasMessageContaining("connections per address")
        .hasMessageContaining("threads")
        .hasMessageContaining("connections")
        .hasMessageContaining("rate")
        .hasMessageContaining("oldest pending")
        .hasMessageContaining("TLS");
  }

  @Test
  void stopsTwiceAndListensNoMore() {
    Desk desk = Desk.open();
    assertThat(desk.get(null, "/v1/health/live").status()).isEqualTo(200);
    desk.token(NewToken.of("last", Role.VIEWER));
    desk.close();
    desk.close();
    assertThatThrownBy(() -> desk.get(null, "/v1/health/live"))
        .isInstanceOf(IllegalStateException.class);
  }
}
