package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** What users of the application cannot do to it by way of the console. */
@Tag("OP-5")
@Timeout(60)
class ConsoleServletTest {
  /** Takes connections and answers to none. */
  private static int status(String path, String query, byte[] body) throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String url = "http://127.0.0.1:" + silent.getLocalPort();
      MockHttpServletRequest request = new MockHttpServletRequest("POST", "/postrider" + path);
      request.setServletPath("/postrider");
      request.setQueryString(query);
      request.setUserPrincipal(() -> "ann");
      request.addHeader("X-Postrider-Console", "1");
      request.setContent(body);
      MockHttpServletResponse response = new MockHttpServletResponse();
      new ConsoleServlet(url, "token", Duration.ofMillis(200)).service(request, response);
      return response.getStatus();
    }
  }

  @Test
  void noThreadWaitsForAServerThatDoesNotAnswer() throws Exception {
    assertThat(status("/v1/messages", null, new byte[0])).isEqualTo(502);
  }

  @Test
  void aBodyUsesNoMoreMemoryThanAServerWouldTake() throws Exception {
    assertThat(status("/v1/messages", null, new byte[(8 << 20) + 1])).isEqualTo(413);
  }

  @Test
  void whatIsNotAnAddressIsBadInput() throws Exception {
    assertThat(status("/v1/%zz", null, new byte[0])).isEqualTo(400);
    assertThat(status("/v1/messages", "topic={a}|b", new byte[0])).isEqualTo(400);
  }

  @Test
  void onlyTheConsoleAndTheApiArePassedOn() throws Exception {
    assertThat(status("/v2/messages", null, new byte[0])).isEqualTo(404);
    assertThat(status("/v1/../admin", null, new byte[0])).isEqualTo(404);
    assertThat(status("/v1" + "/".repeat(100_000), null, new byte[0])).isIn(400, 502);
  }
}
