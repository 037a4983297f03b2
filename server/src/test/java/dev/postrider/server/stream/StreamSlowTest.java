package dev.postrider.server.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.server.Desk;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
@Tag("CH-4")
class StreamSlowTest {
  /** Together more than sockets and window hold, in messages of 100 KB. */
  private static final int MANY = 400;

  private static final int STEP = 25;
  private static final String LARGE = "repeat('x', 100000)";

  private static final Station STATION =
      new Station(Station.CONFIG.withBuffer(100, 64 << 20).withStall(Duration.ofMinutes(1)));

  @AfterAll
  static void close() {
    STATION.close();
  }

  @Test
  void aSlowClientIsCutOffAndResumesWhileOthersGoOn() throws Exception {
    try (Listener fast = Listener.open(STATION.desk, STATION.token, "?" + room("big"));
        Listener slow = Listener.silent(STATION.desk, STATION.token, "?" + room("big"))) {
      for (int said = 0; said < MANY; said += STEP) {
        STATION.say("big", said + 1, STEP, LARGE);
        fast.awaitEvents(said + STEP);
      }
      // It reads on after all: what it got is whole up to the end, which says where to resume.
      assertThat(slow.read().awaitEnd()).isEqualTo("slow");
      assertThat(slow.events().size()).isLessThan(MANY);
      try (Listener again =
          Listener.open(
              STATION.desk, STATION.token, "?after=" + slow.position() + "&" + room("big"))) {
        again.awaitEvents(MANY - slow.events().size());
        List<String> seen = new ArrayList<>(slow.values("event_id"));
        seen.addAll(again.values("event_id"));
        assertThat(seen).containsExactlyElementsOf(fast.values("event_id"));
      }
    }
  }

  @Test
  void aClientThatReadsSlowlySeesItsEnd() throws Exception {
    Desk impatient =
        Desk.on(
            STATION.desk.postgres,
            server ->
                server.streams(
                    Station.CONFIG
                        .withBuffer(10, 64 << 20)
                        .withHeartbeat(Duration.ofMillis(100))
                        .withStall(Duration.ofSeconds(2))));
    await().until(() -> impatient.get(STATION.token, "/v1/streams/events?after=x").status() == 422);
    try (Socket socket = new Socket();
        Listener clock = Listener.open(impatient, STATION.token, "?" + room("nobody"))) {
      socket.setReceiveBufferSize(64 * 1024);
      socket.setSoTimeout(20_000);
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), impatient.server.port()));
      String request =
          "GET /v1/streams/events?%s HTTP/1.0\r\nAuthorization: Bearer %s\r\n\r\n"
              .formatted(room("slow"), STATION.token);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      assertThat(socket.getInputStream().read()).isEqualTo('H');
      STATION.say("slow", 1, 100, LARGE);
      assertThat(readSlowly(socket.getInputStream(), clock)).contains("{\"end\":\"slow\"");
    } finally {
      impatient.server.close();
    }
  }

  /** Takes 30 KB for each heartbeat that another client of the server hears. Returns the end. */
  private static String readSlowly(InputStream in, Listener clock) throws Exception {
    String last = "";
    for (byte[] read = in.readNBytes(30_000); read.length > 0; read = in.readNBytes(30_000)) {
      last =
          last.substring(Math.max(0, last.length() - 100))
              + new String(read, StandardCharsets.UTF_8);
      int heard = clock.lines.size();
      await().pollInterval(Duration.ofMillis(5)).until(() -> clock.lines.size() > heard);
    }
    return last.substring(Math.max(0, last.length() - 100));
  }

  /** However large an event is, up to the bytes of the buffer. */
  @Test
  void aClientMayBeBehindByAsManyEventsAsTheLimitSays() throws Exception {
    int behind = 9_000;
    try (Station usual = new Station(Station.CONFIG.withStall(Duration.ofMinutes(1)));
        Listener fast = Listener.open(usual.desk, usual.token, "?" + room("crowd"));
        Listener slow = Listener.silent(usual.desk, usual.token, "?" + room("crowd"))) {
      for (int said = 0; said < behind; said += 1_000) {
        usual.say("crowd", said + 1, 1_000, "repeat('x', 4000)");
        fast.awaitEvents(said + 1_000);
      }
      slow.read().awaitEvents(behind);
      assertThat(slow.values("event_id")).containsExactlyElementsOf(fast.values("event_id"));
    }
  }

  @Test
  void aClientThatTakesNothingLosesItsPlace() throws Exception {
    STATION.say("old", 1, MANY, LARGE);
    Desk small =
        Desk.on(
            STATION.desk.postgres,
            server ->
                server.streams(
                    Station.CONFIG.withClients(1, 9, 9).withStall(Duration.ofMillis(500))));
    await().until(() -> small.get(STATION.token, "/v1/streams/events?after=x").status() == 422);
    // Behind the tail there is no window to fall out of; it is the time that counts.
    try (Listener stalled =
        Listener.silent(small, STATION.token, "?after=earliest&" + room("old"))) {
      assertThat(stalled.response.statusCode()).isEqualTo(200);
      assertThat(small.get(STATION.token, "/v1/streams/events").status()).isEqualTo(503);
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> {
                try (Listener next = Listener.silent(small, STATION.token, "")) {
                  return next.response.statusCode() == 200;
                }
              });
    } finally {
      small.server.close();
    }
  }

  private static String room(String id) {
    return "aggregate_type=room&aggregate_id=" + id;
  }
}
