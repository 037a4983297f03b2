package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.server.Desk;
import dev.postrider.server.ServerConfig;
import dev.postrider.server.access.Proxies;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One caller with a token does not keep the others from their consoles. */
@Tag("OP-2")
@Timeout(120)
class LivePlacesTest {
  private static final int PER_CALLER = 256;

  private final Desk desk =
      Desk.pooled(
          server ->
              server.config(
                  ServerConfig.DEFAULT
                      .withPort(0)
                      .withProxies(Proxies.of(List.of("127.0.0.0/8")))));
  private final List<Socket> open = new ArrayList<>();

  /** The status of a stream that stays open, for somebody at this address. */
  private int watch(String token, String address) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), desk.server.port());
    open.add(socket);
    socket.setSoTimeout(30_000);
    String request =
        """
        GET /v1/live HTTP/1.1\r
        Host: localhost\r
        Authorization: Bearer %s\r
        X-Forwarded-For: %s\r
        \r
        """;
    socket
        .getOutputStream()
        .write(request.formatted(token, address).getBytes(StandardCharsets.US_ASCII));
    String status =
        new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
            .readLine();
    return Integer.parseInt(status.split(" ", -1)[1]);
  }

  @Test
  void neitherATokenNorAnAddressTakesAllPlaces() throws Exception {
    try {
      for (int i = 0; i < PER_CALLER; i++) {
        assertThat(watch(desk.viewer, "192.0.2." + i % 4)).isEqualTo(200);
      }
      assertThat(watch(desk.viewer, "192.0.2.9")).as("the token's are taken").isEqualTo(429);
      assertThat(watch(desk.operator, "192.0.2.1")).isEqualTo(200);
      for (int i = 0; i < PER_CALLER - 65; i++) {
        String token = i % 2 == 0 ? desk.operator : desk.admin;
        assertThat(watch(token, "192.0.2.1")).as("number %d", i).isEqualTo(200);
      }
      assertThat(watch(desk.admin, "192.0.2.1")).as("the address's are taken").isEqualTo(429);
      assertThat(watch(desk.admin, "192.0.2.2")).isEqualTo(200);
      for (Socket socket : open) {
        socket.close();
      }
      await().until(() -> watch(desk.viewer, "192.0.2.1") == 200);
    } finally {
      for (Socket socket : open) {
        socket.close();
      }
      desk.close();
    }
  }
}
