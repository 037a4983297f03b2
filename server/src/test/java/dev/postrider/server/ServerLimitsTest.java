package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.server.Desk.Answer;
import dev.postrider.server.ServerConfig.Limits;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
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
  void guessingTokensIsLimitedByAddress() {
    try (Desk desk = limited(Limits.DEFAULT.withRate(0.01, 3))) {
      for (int i = 0; i < 3; i++) {
        assertThat(desk.get("guess", "/v1/messages").status()).isEqualTo(401);
      }
      assertThat(desk.get("guess", "/v1/messages").status()).isEqualTo(429);
      assertThat(desk.get(null, "/v1/health").status()).isEqualTo(429);
    }
  }

  @Test
  void aBodyThatTricklesIsCutOff() throws Exception {
    try (Desk desk = limited(Desk.CONFIG.limits().withRequestTime(Duration.ofMillis(500)));
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), desk.server.port())) {
      socket.setSoTimeout(20_000);
      String head =
          "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
              + "Authorization: Bearer "
              + desk.admin
              + "\r\nContent-Length: 1000\r\n\r\n{";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      byte[] buffer = new byte[4096];
      int n = socket.getInputStream().read(buffer);
      assertThat(new String(buffer, 0, Math.max(0, n), StandardCharsets.UTF_8))
          .startsWith("HTTP/1.1 408")
          .contains("was not here within");
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
                    new Limits(1, Duration.ZERO, 1, 0, 0, 0),
                    Duration.ZERO))
        .hasMessageContaining("port must be")
        .hasMessageContaining("request bytes")
        .hasMessageContaining("request time")
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
