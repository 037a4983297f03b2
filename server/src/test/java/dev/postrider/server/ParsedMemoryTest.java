package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.server.Desk.Answer;
import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Short bodies that mean large trees, many at a time, while somebody else enqueues. */
@Timeout(60)
@Tag("OP-3")
class ParsedMemoryTest {
  /** Trees have a quarter of it. */
  private static final long HEAP = 16 << 20;

  private static final String WAITING =
      """
      select count(*) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'
      """;

  /** 18 KB that count as 1.3 MB: two are more than a caller may have, four more than there is. */
  private static final String WIDE = message("held", "[" + "{},".repeat(5_999) + "{}]");

  private final Desk desk = Desk.open(server -> server.heap(HEAP));
  private final List<RawSocket> sockets = new ArrayList<>();

  private static String message(String key, String payload) {
    return "{\"namespace\":\"n\",\"topic\":\"t\",\"key\":\"%s\",\"payload\":%s}"
        .formatted(key, payload);
  }

  @AfterEach
  void close() throws IOException {
    for (RawSocket socket : sockets) {
      socket.close();
    }
    desk.close();
  }

  /** A transaction holds the key of the wide ones, so that they stay in memory. */
  @Test
  void treesThatAreWorkedOnHaveABound() throws Exception {
    desk.enqueue("'n', 't'"); // a new topic would be held, too
    try (Connection open = desk.postgres.dataSource().getConnection();
        Statement statement = open.createStatement()) {
      open.setAutoCommit(false);
      statement.execute("select postrider.enqueue('n', 't', '1', key => 'held')");
      for (int i = 0; i < 4; i++) {
        String hog = desk.token(NewToken.of("hog-" + i, Permission.ENQUEUE)).secret();
        for (int j = 0; j < 4; j++) {
          sockets.add(RawSocket.saying(desk, request(hog, WIDE)));
        }
      }
      await().untilAsserted(() -> assertThat(answered()).hasSize(13));
      for (RawSocket socket : answered()) {
        assertThat(socket.head()).startsWith("HTTP/1.1 503").contains("Retry-After: 1");
      }
      await().until(() -> desk.postgres.count(WAITING) == 3);
      Answer good = desk.post(desk.admin, "/v1/messages", message("other", "1"));
      assertThat(good.status()).as(good.text()).isEqualTo(201);
      open.rollback();
    }
    await().until(() -> desk.post(desk.admin, "/v1/messages", WIDE).status() == 201);
  }

  /** What is too much by itself has all that a caller may have. */
  @Test
  void oneAloneIsTakenHoweverWideItIs() {
    String widest = message("k", "[" + "{},".repeat(50_000) + "{}]");
    for (int i = 0; i < 3; i++) {
      assertThat(desk.post(desk.admin, "/v1/messages", widest).status()).isEqualTo(201);
    }
  }

  private List<RawSocket> answered() throws IOException {
    List<RawSocket> answered = new ArrayList<>();
    for (RawSocket socket : sockets) {
      if (socket.waiting() > 0) {
        answered.add(socket);
      }
    }
    return answered;
  }

  private static String request(String token, String body) {
    return "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        + "Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s"
            .formatted(token, body.length(), body);
  }
}
