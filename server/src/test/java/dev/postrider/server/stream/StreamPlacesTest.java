package dev.postrider.server.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.access.Scope;
import dev.postrider.server.Desk;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Tag("CH-4")
class StreamPlacesTest {
  private static final String PATH = "/v1/streams/events";

  @Test
  void oneTokenDoesNotTakeAllPlaces() throws Exception {
    try (Station station = new Station(Station.CONFIG.withClients(10, 2, 10))) {
      Desk desk = station.desk;
      String other = station.token(Scope.ALL);
      try (Listener first = Listener.open(desk, station.token, "");
          Listener second = Listener.open(desk, station.token, "")) {
        Desk.Answer refused = desk.get(station.token, PATH);
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.text()).contains("too-many-streams", "the token");
        assertThat(refused.header("Retry-After")).isNotEmpty();
        try (Listener third = Listener.open(desk, other, "")) {
          assertThat(third.response.statusCode()).isEqualTo(200);
        }
        assertThat(first.response.statusCode()).isEqualTo(200);
        assertThat(second.response.statusCode()).isEqualTo(200);
      }
    }
  }

  @Test
  void oneAddressDoesNotTakeAllPlacesWhateverItsTokens() throws Exception {
    try (Station station =
        new Station(Station.CONFIG.withClients(10, 10, 1).withHeartbeat(Duration.ofMillis(100)))) {
      Desk desk = station.desk;
      String other = station.token(Scope.ALL);
      try (Listener first = Listener.open(desk, station.token, "")) {
        assertThat(first.response.statusCode()).isEqualTo(200);
        assertThat(desk.get(other, PATH).text()).contains("too-many-streams", "the address");
      }
      // The place is free again when the server has noticed.
      await()
          .until(
              () -> {
                try (Listener next = Listener.silent(desk, other, "")) {
                  return next.response.statusCode() == 200;
                }
              });
    }
  }

  /** Clients that are behind read pages of their own, of which there are few. */
  @Test
  void clientsOfOneTokenThatTakeNothingDoNotKeepOthersBehind() throws Exception {
    StreamConfig usual = Station.CONFIG;
    StreamConfig few =
        new StreamConfig(
            usual.places(),
            usual.bufferEvents(),
            usual.bufferBytes(),
            2,
            usual.heartbeat(),
            Duration.ofMinutes(5),
            usual.poll());
    try (Station station = new Station(few)) {
      Desk desk = station.desk;
      // More than the sockets of the slow ones hold.
      station.say("old", 1, 150, "repeat('x', 100000)");
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> desk.postgres.count("select count(*) from postrider.stream_event") == 150);
      String other = station.token(Scope.ALL);
      String old = "?after=earliest&aggregate_type=room&aggregate_id=old";
      try (Listener first = Listener.silent(desk, station.token, old);
          Listener second = Listener.silent(desk, station.token, old);
          Listener third = Listener.silent(desk, station.token, old);
          Listener fair = Listener.open(desk, other, old)) {
        fair.awaitEvents(150);
        for (Listener slow : List.of(first, second, third)) {
          assertThat(slow.response.statusCode()).isEqualTo(200);
        }
      }
    }
  }
}
