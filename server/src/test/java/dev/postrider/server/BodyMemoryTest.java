package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.server.Desk.Answer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bodies that are large, many and never complete, while somebody else enqueues. */
@Timeout(60)
@Tag("OP-3")
class BodyMemoryTest {
  private static final int BODY = 1 << 20;
  private static final int THREADS = 8;
  private static final int SOCKETS = 64;

  /** As much as a message may have, and less than a body. */
  private static final String MESSAGE =
      "{\"namespace\":\"n\",\"topic\":\"t\",\"payload\":\"" + "x".repeat(900_000) + "\"}";

  private final Desk desk =
      Desk.open(
          server ->
              server.config(
                  Desk.CONFIG.withLimits(
                      new Limits(
                          BODY,
                          THREADS,
                          Limits.DEFAULT.times(),
                          Limits.DEFAULT.connections(),
                          Desk.CONFIG.limits().rate()))));
  private final String hog = desk.token(NewToken.of("hog", Permission.ENQUEUE)).secret();
  private final List<RawSocket> sockets = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    for (RawSocket socket : sockets) {
      socket.close();
    }
    desk.close();
  }

  @Test
  void whoHasShownNoTokenMaySendLittle() throws Exception {
    String session = head("/v1/session", "");
    assertThat(answer(session + "Content-Length: 5000\r\n\r\n"))
        .startsWith("HTTP/1.1 413")
        .contains("a body may have 4096 bytes at most");
    assertThat(answer(session + "Transfer-Encoding: chunked\r\n\r\n1388\r\n" + "x".repeat(5000)))
        .startsWith("HTTP/1.1 413");
  }

  @Test
  void actsTakeShortBodies() throws Exception {
    for (String path : List.of("/v1/dead/requeue", "/v1/replays", "/v1/keys/skip")) {
      assertThat(answer(head(path, desk.admin) + "Content-Length: 70000\r\n\r\n"))
          .as(path)
          .startsWith("HTTP/1.1 413")
          .contains("a body may have 65536 bytes at most");
    }
  }

  @Test
  void oneTokenFillsHalfOfTheMemoryAtMost() throws Exception {
    long before = usedHeap();
    for (int i = 0; i < SOCKETS; i++) {
      RawSocket socket = RawSocket.open(desk);
      sockets.add(socket);
      try {
        socket.say(
            head("/v1/messages", hog)
                + "Content-Length: "
                + BODY
                + "\r\n\r\n"
                + "x".repeat(BODY - 1));
      } catch (IOException e) {
        // It was refused already.
      }
    }
    int refused = SOCKETS - THREADS / 2;
    await().until(() -> sockets.stream().filter(BodyMemoryTest::answered).count() >= refused);

    Answer good = desk.post(desk.admin, "/v1/messages", MESSAGE);
    assertThat(good.status()).as(good.text()).isEqualTo(201);
    assertThat(usedHeap() - before).isLessThan((long) SOCKETS * BODY / 2);
  }

  @Test
  void theRefusalSaysWhatToDo() throws Exception {
    for (int i = 0; i < THREADS / 2; i++) {
      RawSocket socket = RawSocket.open(desk);
      sockets.add(socket);
      socket.say(
          head("/v1/messages", hog)
              + "Content-Length: "
              + BODY
              + "\r\nExpect: 100-continue\r\n\r\n");
      assertThat(socket.head()).startsWith("HTTP/1.1 100");
      socket.say("x".repeat(BODY - 1));
    }
    await()
        .untilAsserted(
            () -> {
              Answer refused = desk.post(hog, "/v1/messages", MESSAGE);
              assertThat(refused.status()).isEqualTo(503);
              assertThat(refused.text()).contains("this caller").contains("half of the memory");
              assertThat(refused.header("Retry-After")).isEqualTo("1");
            });
    assertThat(desk.post(desk.admin, "/v1/messages", MESSAGE).status()).isEqualTo(201);
    for (RawSocket socket : sockets) {
      socket.close();
    }
    await().until(() -> desk.post(hog, "/v1/messages", MESSAGE).status() == 201);
  }

  private String answer(String request) throws IOException {
    RawSocket socket = RawSocket.saying(desk, request);
    sockets.add(socket);
    return socket.rest();
  }

  private static String head(String path, String token) {
    return "POST "
        + path
        + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        + (token.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n");
  }

  private static boolean answered(RawSocket socket) {
    try {
      return socket.waiting() > 0 || socket.closed();
    } catch (IOException e) {
      return true;
    }
  }

  private static long usedHeap() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
