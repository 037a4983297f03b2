package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.server.Desk;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the server tells consoles: points from before it was started, and warnings. */
@Tag("OP-2")
@Timeout(60)
class HistoryTest {
  /** The first line of events that contains the text. */
  private static String event(Desk desk, String text) throws Exception {
    HttpResponse<Stream<String>> response =
        HttpClient.newHttpClient()
            .send(desk.request(desk.viewer, "/v1/live").build(), BodyHandlers.ofLines());
    try (Stream<String> lines = response.body()) {
      return lines.filter(line -> line.contains(text)).findFirst().orElseThrow();
    }
  }

  @Test
  void aServerThatStartsShowsPointsFromBefore() throws Exception {
    try (Desk desk = Desk.open()) {
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> desk.postgres.count("select count(*) from postrider.chart_point") > 0);
      desk.postgres.execute(
          """
          insert into postrider.chart_point (slot, at, point) values (0, now() - interval '1 minute',
            array[extract(epoch from now() - interval '1 minute') * 1000, 1, 2, 3, 4, 4242, 6, null, null])
          on conflict (slot) do update set at = excluded.at, point = excluded.point
          """);
      try (Desk later = Desk.on(desk.postgres, server -> server)) {
        assertThat(event(later, "4242")).contains(",1.0,2.0,3.0,4.0,4242.0,6.0,null,null]");
      }
    }
  }

  @Test
  void theRingHasOnePointForTenSecondsAndHalfAnHourAtMost() {
    try (Desk desk = Desk.open()) {
      desk.postgres.execute(
          "insert into postrider.chart_point select n, now(), '{1}' from generate_series(0, 179) n"
              + " on conflict (slot) do update set at = now(), point = '{1}'");
      desk.postgres.execute("select postrider.chart_put('{2}')");
      assertThat(desk.postgres.column("select distinct point from postrider.chart_point"))
          .containsExactly("{1}");
      desk.postgres.execute("update postrider.chart_point set at = now() - interval '30 minutes'");
      desk.postgres.execute("select postrider.chart_put('{2}')");
      assertThat(desk.postgres.count("select count(*) from postrider.chart_point")).isEqualTo(180);
      assertThat(desk.postgres.column("select point[1] from postrider.chart_point")).contains("2");
    }
  }

  @Test
  void theOverviewWarnsOfWhatTheDoctorFinds() {
    Warning warning =
        new Warning("vacuum", "queue: 300,000 dead rows", "Look for old transactions.");
    try (Desk desk = Desk.pooled(server -> server.doctor(() -> List.of(warning)));
        Visit visit = Browser.signedIn(desk, desk.viewer)) {
      visit.sees("Vacuum does not keep up");
      visit.sees("queue: 300,000 dead rows. Look for old transactions.");
      visit.accessible();
    }
  }
}
