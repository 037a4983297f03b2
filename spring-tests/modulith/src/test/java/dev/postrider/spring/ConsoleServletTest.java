package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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
      servlet(url).service(request, response);
      return response.getStatus();
    }
  }

  private static ConsoleServlet servlet(String url) {
    return new ConsoleServlet(url, "token", Duration.ofMillis(200), Duration.ofMillis(200));
  }

  @Test
  void noThreadWaitsForAServerThatDoesNotAnswer() throws Exception {
    assertThat(status("/v1/messages", null, new byte[0])).isEqualTo(502);
  }

  /** Its host was cut off: no more bytes come, and no end. */
  @Test
  void noThreadWaitsForAnAnswerThatGoesSilent() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Socket> accepted = CompletableFuture.supplyAsync(() -> begin(server));
      MockHttpServletRequest request = new MockHttpServletRequest("GET", "/postrider/v1/live");
      request.setServletPath("/postrider");
      request.setUserPrincipal(() -> "ann");
      MockHttpServletResponse response = new MockHttpServletResponse();
      ConsoleServlet servlet =
          new ConsoleServlet(
              "http://127.0.0.1:" + server.getLocalPort(),
              "token",
              Duration.ofSeconds(30),
              Duration.ofMillis(200));
      assertThatThrownBy(() -> servlet.service(request, response))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("silent");
      assertThat(response.getContentAsString()).isEqualTo("data: 1\n");
      try (Socket socket = accepted.get()) {
        socket.setSoTimeout(30_000);
        InputStream in = socket.getInputStream();
        in.readAllBytes(); // ends: the connection is not kept
      }
    }
  }

  private static Socket begin(ServerSocket server) {
    try {
      Socket socket = server.accept();
      socket
          .getOutputStream()
          .write(
              ("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                      + "Transfer-Encoding: chunked\r\n\r\n8\r\ndata: 1\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      return socket;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
