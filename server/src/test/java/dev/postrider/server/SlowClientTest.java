package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.server.Desk.Answer;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
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

  private static final String WAITING =
      """
      select count(*) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'
      """;

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

  @Test
  void answersThatNobodyTakesHoldNoThread() throws Exception {
    String document =
        "GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n"
            .formatted(desk.admin);
    for (int i = 0; i < SOCKETS; i++) {
      RawSocket socket = RawSocket.deaf(desk);
      sockets.add(socket);
      socket.say(document.repeat(8));
    }
    for (RawSocket socket : sockets) {
      await().until(() -> socket.waiting() > 0);
    }
    othersAreAnswered();
  }

  /** Health has few threads, and no limit on requests. */
  @Test
  void healthThatNobodyTakesHoldsNoThread() throws Exception {
    String live = "GET /v1/health/live HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100);
    for (int i = 0; i < 4; i++) {
      sockets.add(RawSocket.deaf(desk));
    }
    // The server reads no more requests of a connection while an answer waits.
    await().during(Duration.ofSeconds(1)).atMost(Duration.ofSeconds(30)).until(() -> full(live));
    othersAreAnswered();
  }

  /** A database that hangs holds every ordinary thread. Health has threads of its own. */
  @Test
  void healthIsAnsweredWhileEveryThreadIsBusy() throws Exception {
    int threads = Limits.DEFAULT.threads();
    CountDownLatch busy = new CountDownLatch(threads);
    CountDownLatch end = new CountDownLatch(1);
    TestFeature hangs =
        new TestFeature(
            () -> {
              busy.countDown();
              end.await();
              return "done";
            });
    try (Desk hung = Desk.open(server -> server.feature(hangs))) {
      for (int i = 0; i < threads; i++) {
        sockets.add(
            RawSocket.saying(
                hung,
                "GET /v1/test HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n"
                    .formatted(i % 2 == 0 ? hung.viewer : hung.operator)));
      }
      try {
        busy.await();
        for (String path : List.of("/v1/health/live", "/v1/health/ready", "/v1/health")) {
          assertThat(hung.send(hung.request(null, path).timeout(PROMPT)).status())
              .as(path)
              .isIn(200, 503);
        }
      } finally {
        end.countDown();
      }
    }
  }

  /** The others of the token wait, and are answered in the end. */
  @Test
  void oneTokenDoesNotTakeAllThreads() throws Exception {
    int most = Limits.DEFAULT.threads() * 3 / 4;
    CountDownLatch busy = new CountDownLatch(most);
    CountDownLatch end = new CountDownLatch(1);
    TestFeature hangs =
        new TestFeature(
            () -> {
              busy.countDown();
              end.await();
              return "done";
            });
    try (Desk hung = Desk.open(server -> server.feature(hangs))) {
      for (int i = 0; i < 2 * Limits.DEFAULT.threads(); i++) {
        sockets.add(
            RawSocket.saying(
                hung,
                "GET /v1/test HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n"
                    .formatted(hung.viewer)));
      }
      try {
        busy.await();
        for (int i = 0; i < 10; i++) {
          assertThat(hung.send(hung.request(hung.operator, "/v1/status").timeout(PROMPT)).status())
              .isEqualTo(200);
        }
      } finally {
        end.countDown();
      }
      for (RawSocket socket : sockets) {
        assertThat(socket.head()).startsWith("HTTP/1.1 200");
      }
    }
  }

  /** Each of them waits for a key that a transaction in the database holds. */
  @Test
  void oneTokenDoesNotTakeAllConnectionsToTheDatabase() throws Exception {
    String message = "{\"namespace\":\"held\",\"topic\":\"t\",\"key\":\"k\",\"payload\":1}";
    try (Desk pooled = Desk.pooled(server -> server.databaseConnections(8));
        Connection open = pooled.postgres.dataSource().getConnection();
        Statement statement = open.createStatement()) {
      open.setAutoCommit(false);
      statement.execute("select postrider.enqueue('held', 't', '1', key => 'k')");
      for (int i = 0; i < 20; i++) {
        sockets.add(
            RawSocket.saying(
                pooled,
                "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    + "Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s"
                        .formatted(pooled.admin, message.length(), message)));
      }
      await().until(() -> pooled.postgres.count(WAITING) >= 6);
      for (int i = 0; i < 10; i++) {
        assertThat(pooled.send(pooled.request(pooled.viewer, "/v1/messages").timeout(PROMPT)))
            .extracting(Answer::status)
            .isEqualTo(200);
      }
      open.rollback();
      for (RawSocket socket : sockets) {
        assertThat(socket.head()).containsAnyOf("HTTP/1.1 201", "HTTP/1.1 503");
      }
    }
  }

  private boolean full(String text) {
    boolean full = true;
    for (RawSocket socket : sockets) {
      try {
        full &= socket.sayUntilFull(text);
      } catch (IOException e) {
        // The server has given it up.
      }
    }
    return full;
  }

  /** Answers that wait use memory. Those that have waited longest make room. */
  @Test
  void answersThatNobodyTakesHaveABound() throws Exception {
    Limits small = Limits.DEFAULT.withRequestBytes(1 << 20);
    try (Desk narrow = Desk.open(server -> server.config(Desk.CONFIG.withLimits(small)))) {
      narrow.postgres.execute("update postrider.engine set max_payload_bytes = 32000000");
      narrow.postgres.execute(
          "select postrider.enqueue('n', 't', '\"' || repeat('x', 10000000) || '\"')");
      String id = narrow.postgres.column("select id from postrider.message").get(0);
      String reader =
          narrow.token(NewToken.of("reader", Permission.READ, Permission.PAYLOAD_READ)).secret();
      for (int i = 0; i < 6; i++) {
        RawSocket socket = RawSocket.deaf(narrow);
        sockets.add(socket);
        socket.say(
            "GET /v1/messages/%s HTTP/1.0\r\nAuthorization: Bearer %s\r\n\r\n"
                .formatted(id, reader));
        await().until(() -> socket.waiting() > 0);
      }
      assertThat(sockets.get(5).rest().length()).isGreaterThan(10_000_000);
      assertThat(sockets.get(0).rest().length()).isLessThan(10_000_000);
    }
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
