package dev.postrider.server.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.postrider.server.Desk;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

@Timeout(120)
@Tag("CH-4")
class StreamSlowTest {
  /** Together more than sockets and window hold, in messages of 100 KB. */
  private static final int MANY = 400;

  private static final int STEP = 25;
  private static final int STEP_BYTES = 320_000;
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

  /** It has as long again for the end as it had for what it did not take. */
  @Test
  void aClientThatTookNothingCanStillReadItsEnd() throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger(Client.class);
    Ended ended = new Ended();
    ended.start();
    logger.addAppender(ended);
    try (Desk impatient = impatient(Duration.ofSeconds(5));
        Listener clock = Listener.open(impatient, STATION.token, "?" + room("nobody"));
        Listener slow = Listener.silent(impatient, STATION.token, "?" + room("stalled"))) {
      logger.setLevel(Level.INFO);
      STATION.say("stalled", 1, 100, LARGE);
      assertThat(ended.asSlow.await(60, TimeUnit.SECONDS)).isTrue();
      hear(clock, 10);
      assertThat(slow.read().awaitEnd()).isEqualTo("slow");
    } finally {
      logger.setLevel(null);
      logger.detachAppender(ended);
    }
  }

  /** Hears of clients that were too slow. */
  private static final class Ended extends AppenderBase<ILoggingEvent> {
    private final CountDownLatch asSlow = new CountDownLatch(1);

    @Override
    protected void append(ILoggingEvent event) {
      if (event.getFormattedMessage().startsWith("event=stream_client_ended reason=slow ")) {
        asSlow.countDown();
      }
    }
  }

  /** One write takes far longer than a stall, but the client always takes some of it. */
  @Test
  void aClientThatReadsSlowlyIsNotOneThatTakesNothing() throws Exception {
    STATION.desk.postgres.execute("update postrider.engine set max_payload_bytes = 32000000");
    try (Desk impatient = impatient(Duration.ofSeconds(3));
        Listener clock = Listener.open(impatient, STATION.token, "?" + room("nobody"));
        Socket socket = new Socket()) {
      socket.setReceiveBufferSize(64 * 1024);
      socket.setSoTimeout(30_000);
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), impatient.server.port()));
      String request =
          "GET /v1/streams/events?%s HTTP/1.0\r\nAuthorization: Bearer %s\r\n\r\n"
              .formatted(room("large"), STATION.token);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      InputStream in = socket.getInputStream();
      assertThat(in.read()).isEqualTo('H');
      STATION.say("large", 1, 1, "repeat('x', 8000000)");
      STATION.say("large", 2, 1, "'the second'");
      int steps = 25;
      for (int i = 0; i < steps; i++) {
        assertThat(in.readNBytes(STEP_BYTES)).as("step %d of %d", i, steps).hasSize(STEP_BYTES);
        hear(clock, 5);
      }
      BufferedReader rest =
          new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
      assertThat(rest.readLine()).endsWith("}");
      assertThat(rest.lines().filter(line -> line.contains("event_id")).findFirst().orElse("none"))
          .contains("the second");
    }
  }

  private static Desk impatient(Duration stall) {
    Desk desk =
        Desk.on(
            STATION.desk.postgres,
            server ->
                server.streams(
                    Station.CONFIG.withHeartbeat(Duration.ofMillis(100)).withStall(stall)));
    await().until(() -> desk.get(STATION.token, "/v1/streams/events?after=x").status() == 422);
    return desk;
  }

  /** Until another client of the server has heard so many more heartbeats. */
  private static void hear(Listener clock, int heartbeats) {
    int heard = clock.lines.size();
    await()
        .pollInterval(Duration.ofMillis(10))
        .atMost(Duration.ofSeconds(30))
        .until(() -> clock.lines.size() >= heard + heartbeats);
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
