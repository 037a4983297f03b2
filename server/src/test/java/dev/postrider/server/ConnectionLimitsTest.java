package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.server.Limits.Times;
import dev.postrider.server.access.Proxies;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
@Tag("OP-3")
class ConnectionLimitsTest {
  private static final Duration SOON = Duration.ofMillis(500);
  private static final Duration LATE = Duration.ofMinutes(5);
  private static final String LIVE = "GET /v1/health/live HTTP/1.1\r\nHost: x\r\n\r\n";

  private final List<RawSocket> sockets = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    for (RawSocket socket : sockets) {
      socket.close();
    }
  }

  /** A body that anybody may send. The server says when it begins to read it. */
  private static final String CONTINUES =
      String.join(
          "\r\n",
          "POST /v1/session HTTP/1.1",
          "Host: x",
          "Content-Type: application/json",
          "Expect: 100-continue",
          "Content-Length: 4000",
          "",
          "");

  private static final String DOCUMENT = "GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";

  private static Desk limited(Limits limits) {
    return Desk.open(builder -> builder.config(Desk.CONFIG.withLimits(limits)));
  }

  private static Desk timed(Times times) {
    return limited(Desk.CONFIG.limits().withTimes(times));
  }

  private static String enqueue(Desk desk, String more) {
    return "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        + "Authorization: Bearer "
        + desk.admin
        + "\r\n"
        + more;
  }

  @Test
  void aHeadHasOneDeadlineHoweverItTrickles() throws Exception {
    try (Desk desk = timed(new Times(SOON, LATE, LATE, 1));
        RawSocket first = RawSocket.saying(desk, "GET /v1/health HTTP/1.1\r\nX: ");
        RawSocket again = RawSocket.saying(desk, LIVE)) {
      assertThat(again.head()).startsWith("HTTP/1.1 200");
      again.say("GET /v1/health HTTP/1.1\r\nX: ");
      await().until(() -> trickles(first));
      await().until(() -> trickles(again));
    }
  }

  /** True when it is over. */
  private static boolean trickles(RawSocket socket) throws IOException {
    try {
      socket.say("x");
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  @Test
  void aBodyHasOneDeadlineHoweverItTrickles() throws Exception {
    try (Desk desk = timed(new Times(LATE, SOON, LATE, 1));
        RawSocket socket =
            RawSocket.saying(desk, enqueue(desk, "Content-Length: 1000000\r\n\r\n{"))) {
      // More than the least rate all the time.
      await().until(() -> socket.say(" ".repeat(100)).waiting() > 0);
      assertThat(socket.rest())
          .startsWith("HTTP/1.1 408")
          .contains("urn:postrider:problem:too-slow");
    }
  }

  /** Extensions, zeros before a size, and trailers come with a body and are not part of it. */
  @ParameterizedTest
  @ValueSource(strings = {"1;|a", "|0", "2\r\n{}\r\n0\r\n|X: y\r\n"})
  void whatChunksHaveBesidesTheBodyHasAnEnd(String flood) throws Exception {
    String[] parts = flood.split("\\|", 2);
    try (Desk desk = timed(new Times(LATE, SOON, LATE, 1));
        RawSocket socket =
            RawSocket.saying(
                desk, enqueue(desk, "Transfer-Encoding: chunked\r\n\r\n" + parts[0]))) {
      String more = parts[1].repeat(1000);
      await().until(() -> endsWhileSaying(socket, more));
      assertThat(desk.get(desk.viewer, "/v1/messages").status()).isEqualTo(200);
    }
  }

  private static boolean endsWhileSaying(RawSocket socket, String text) {
    try {
      return socket.say(text).waiting() > 0;
    } catch (IOException e) {
      return true;
    }
  }

  @Test
  void aBodyHasALeastRate() throws Exception {
    try (Desk desk = timed(new Times(LATE, LATE, LATE, 1 << 20));
        RawSocket socket =
            RawSocket.saying(desk, enqueue(desk, "Content-Length: 1000000\r\n\r\n{"))) {
      assertThat(socket.rest()).startsWith("HTTP/1.1 408").contains("1048576 bytes per second");
    }
  }

  @Test
  void anIdleConnectionIsClosed() throws Exception {
    try (Desk desk = timed(new Times(LATE, LATE, SOON, 1));
        RawSocket socket = RawSocket.saying(desk, LIVE)) {
      assertThat(socket.head()).startsWith("HTTP/1.1 200");
      assertThat(socket.rest()).doesNotContain("still open");
    }
  }

  @Test
  void anAnswerThatNobodyTakesIsGivenUp() throws Exception {
    try (Desk desk = timed(new Times(LATE, LATE, LATE, 1 << 20))) {
      String reader = readerOfPayloads(desk);
      desk.postgres.execute("update postrider.engine set max_payload_bytes = 32000000");
      desk.postgres.execute(
          "select postrider.enqueue('n', 't', '\"' || repeat('x', 20000000) || '\"')");
      String id = desk.postgres.column("select id from postrider.message").get(0);
      try (RawSocket socket =
          RawSocket.saying(
              desk,
              "GET /v1/messages/"
                  + id
                  + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                  + reader
                  + "\r\n\r\n")) {
        assertThat(socket.head()).startsWith("HTTP/1.1 200");
        await().atMost(Duration.ofSeconds(20)).until(() -> trickles(socket));
      }
    }
  }

  private static String readerOfPayloads(Desk desk) {
    return desk.token(
            dev.postrider.access.NewToken.of("reader", dev.postrider.access.Role.VIEWER)
                .with(dev.postrider.access.Permission.PAYLOAD_READ))
        .secret();
  }

  @Test
  void whoeverHasWaitedLongestMakesRoomForNewConnections() throws Exception {
    try (Desk desk = limited(Desk.CONFIG.limits().withConnections(1000, 20))) {
      for (int i = 0; i < 60; i++) {
        sockets.add(RawSocket.open(desk));
      }
      assertThat(desk.get(null, "/v1/health/live").status()).isEqualTo(200);
      await().until(() -> open() <= 20);
      assertThat(sockets.get(0).closed()).isTrue();
      assertThat(sockets.get(59).closed()).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1"})
  void aTrustedProxyMayHaveAllConnectionsThereAre(String address) throws Exception {
    assumeThat(ServerLimitsTest.has(address)).isTrue();
    try (Desk desk =
        Desk.open(
            builder ->
                builder.config(
                    Desk.CONFIG
                        .withHost(address)
                        .withProxies(Proxies.of(List.of(address)))
                        .withLimits(Desk.CONFIG.limits().withConnections(40, 20))))) {
      for (int i = 0; i < 60; i++) {
        sockets.add(RawSocket.open(desk));
      }
      assertThat(desk.get(null, "/v1/health/live").status()).isEqualTo(200);
      await().until(() -> open() <= 40);
      assertThat(open()).isGreaterThan(30);
    }
  }

  /** The server works on none of them. They wait for their callers. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void callersThatSendOrTakeTooSlowlyMakeRoomAsWell(boolean send) throws Exception {
    Limits limits =
        Desk.CONFIG.limits().withTimes(new Times(LATE, LATE, LATE, 1)).withConnections(1000, 20);
    try (Desk desk = limited(limits)) {
      for (int i = 0; i < 20; i++) {
        RawSocket socket = send ? RawSocket.open(desk) : RawSocket.deaf(desk);
        sockets.add(socket);
        socket.say(send ? CONTINUES : DOCUMENT.repeat(8));
      }
      for (RawSocket socket : sockets) {
        await().until(() -> socket.waiting() > 0);
      }
      assertThat(desk.get(null, "/v1/health/live").status()).isEqualTo(200);
      assertThat(desk.get(desk.viewer, "/v1/messages").status()).isEqualTo(200);
    }
  }

  private long open() throws IOException {
    long open = 0;
    for (RawSocket socket : sockets) {
      open += socket.closed() ? 0 : 1;
    }
    return open;
  }

  @Test
  void idleConnectionsDoNotShutTheServer() throws Exception {
    try (Desk desk = limited(Desk.CONFIG.limits().withConnections(50, 1000))) {
      for (int i = 0; i < 150; i++) {
        sockets.add(RawSocket.open(desk));
      }
      await().until(() -> open() <= 50);
      assertThat(desk.get(null, "/v1/health/live").status()).isEqualTo(200);
      assertThat(desk.get(desk.viewer, "/v1/messages").status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /v1/health HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n",
        "GET /v1/health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      })
  void aBodyThatNobodyAskedForIsRefusedUnread(String request) throws Exception {
    try (Desk desk = Desk.open();
        RawSocket socket = RawSocket.saying(desk, request)) {
      assertThat(socket.rest()).startsWith("HTTP/1.1 400").contains("body-not-expected");
    }
  }

  /** What two servers in a row may read in two ways. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
        "Content-Length: 2, 2\r\n\r\n{}",
        "Content-Length: +2\r\n\r\n{}",
        "Content-Length : 2\r\n\r\n{}",
        "Content-Length: 2\n\r\n{}",
        "Content-Length: 2\r\nX: y\rZ: 1\r\n\r\n{}",
        "X: y\r\n Content-Length: 2\r\n\r\n{}",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
        "Host: y\r\nContent-Length: 2\r\n\r\n{}"
      })
  void aRequestWhoseEndIsNotCertainIsRefusedAndTheConnectionClosed(String rest) throws Exception {
    try (Desk desk = Desk.open();
        RawSocket socket = RawSocket.saying(desk, enqueue(desk, rest) + LIVE)) {
      assertThat(socket.rest())
          .startsWith("HTTP/1.1 400")
          .doesNotContain("HTTP/1.1 200", "still open");
    }
  }

  @Test
  void malformedChunksAreABadRequest() throws Exception {
    try (Desk desk = Desk.open();
        RawSocket socket =
            RawSocket.saying(
                desk, enqueue(desk, "Transfer-Encoding: chunked\r\n\r\nnothing\r\n{}\r\n"))) {
      assertThat(socket.rest()).startsWith("HTTP/1.1 400").contains("broken-body");
    }
  }
}
