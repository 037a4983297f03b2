package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.server.Desk.Answer;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** More slow clients than the server has threads, while somebody else wants an answer. */
@Timeout(60)
@Tag("OP-3")
class SlowClientTest {
  private static final int SOCKETS = Limits.DEFAULT.threads() + 16;
  private static final Duration PROMPT = Duration.ofSeconds(3);

  private final Desk desk = Desk.open();
  private final List<RawSocket> sockets = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    for (RawSocket socket : sockets) {
      socket.close();
    }
    desk.close();
  }

  @Test
  void bodiesThatNobodyAskedForHoldNoThread() throws Exception {
    crowd("GET /v1/health HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
    othersAreAnswered();
  }

  @Test
  void bodiesThatTrickleHoldNoThread() throws Exception {
    crowd(
        "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            + "Authorization: Bearer "
            + desk.admin
            + "\r\nContent-Length: 1000\r\n\r\n");
    othersAreAnswered();
  }

  @Test
  void headsThatTrickleHoldNoThread() throws Exception {
    crowd("GET /v1/health HTTP/1.1\r\nHost: ");
    othersAreAnswered();
  }

  private void crowd(String start) throws IOException {
    for (int i = 0; i < SOCKETS; i++) {
      sockets.add(RawSocket.saying(desk, start));
    }
    for (RawSocket socket : sockets) {
      try {
        socket.say("{");
      } catch (IOException e) {
        // It was refused already.
      }
    }
  }

  private void othersAreAnswered() {
    assertThat(prompt(desk.request(null, "/v1/health/live")).status()).isEqualTo(200);
    assertThat(prompt(desk.request(desk.viewer, "/v1/messages")).status()).isEqualTo(200);
  }

  private Answer prompt(HttpRequest.Builder request) {
    return desk.send(request.timeout(PROMPT));
  }
}
