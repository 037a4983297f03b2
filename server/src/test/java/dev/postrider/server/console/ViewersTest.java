package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.message.AttemptState;
import dev.postrider.server.Desk;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A stream ends after a minute; what happens until the next one begins is not lost. */
@Tag("OP-2")
@Timeout(120)
class ViewersTest {
  private static final UUID ID = UUID.randomUUID();

  private long nowMillis = 1_000_000;
  private final Viewers viewers = new Viewers(() -> nowMillis);

  private FakeBrowser open(long after) {
    FakeBrowser browser = new FakeBrowser();
    Viewer viewer = new Viewer(browser, after, viewers::leave, () -> 0);
    viewers.join(viewer, null);
    viewer.ready();
    browser.viewer = viewer;
    return browser;
  }

  private void happens(int count, String code) {
    LiveEvent.Outcome outcome =
        new LiveEvent.Outcome(
            Instant.EPOCH,
            AttemptState.FAILED,
            ID,
            "shop",
            "orders",
            null,
            null,
            null,
            1,
            1,
            null,
            code,
            null,
            null);
    viewers.outcomes(
        LiveEvent.outcomes(Instant.EPOCH, Stream.generate(() -> outcome).limit(count).toList(), 0));
  }

  private static long lastId(FakeBrowser browser) {
    String last = browser.taken.get(browser.taken.size() - 1);
    return Long.parseLong(last.substring("id: ".length(), last.indexOf('\n')));
  }

  private static Viewer viewerOf(FakeBrowser browser) {
    return Objects.requireNonNull(browser.viewer);
  }

  private static String all(FakeBrowser browser) {
    return String.join("", browser.taken);
  }

  @Test
  void whatHappensBetweenTwoStreamsComesWithTheNextOne() {
    FakeBrowser first = open(0);
    happens(1, "seen");
    long seen = lastId(first);
    viewerOf(first).lost();
    happens(1, "missed-1");
    happens(1, "missed-2");

    FakeBrowser next = open(seen);
    assertThat(all(next)).contains("missed-1", "missed-2").doesNotContain("\"seen\"");
    assertThat(all(open(lastId(next)))).doesNotContain("missed");
    assertThat(all(open(0))).as("a new page").doesNotContain("missed");
  }

  @Test
  void notMoreThanAThousandAndNothingOldIsKept() {
    happens(1, "old");
    nowMillis += Viewers.KEPT_FOR.toMillis() + 10;
    for (int i = 0; i < 30; i++) {
      happens(100, "new");
    }
    assertThat(all(open(1)))
        .doesNotContain("\"old\"")
        .satisfies(text -> assertThat(text.split("\"new\"", -1)).hasSize(Viewers.KEPT_MAX + 1));
  }

  @Test
  void whoHasJustLeftIsStillReadFor() {
    assertThat(viewers.watched()).isFalse();
    FakeBrowser browser = open(0);
    assertThat(viewers.watched()).isTrue();
    viewerOf(browser).lost();
    assertThat(viewers.watched()).isTrue();
    nowMillis += Viewers.KEPT_FOR.toMillis() + 1;
    assertThat(viewers.watched()).isFalse();
  }

  private static BufferedReader stream(Desk desk, String token, String after)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> response =
        HttpClient.newHttpClient()
            .send(
                desk.request(token, "/v1/live").header("Last-Event-ID", after).build(),
                BodyHandlers.ofInputStream());
    return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
  }

  private static String line(BufferedReader stream, String part) throws IOException {
    String line = stream.readLine();
    while (!line.contains(part)) {
      line = stream.readLine();
    }
    return line;
  }

  @Test
  void theServerKeepsThemWhileNobodyIsConnected() throws Exception {
    try (Desk desk = Desk.pooled(server -> server)) {
      String token = desk.token(NewToken.of(Desk.name("ann"), Permission.READ)).secret();
      UUID before = desk.enqueue("'shop', 'orders'");
      String last;
      try (BufferedReader first = stream(desk, token, "0")) {
        line(first, "\"points\":["); // from then on outcomes are shown
        desk.carry(1, "");
        String id = "";
        String line = "";
        while (!line.contains("\"outcomes\"") || !line.contains(before.toString())) {
          id = line.startsWith("id: ") ? line : id;
          line = first.readLine();
        }
        last = id.substring("id: ".length());
      }
      UUID between = desk.enqueue("'shop', 'orders'");
      desk.carry(1, "");
      // Another one sees it; so the server has read it.
      try (BufferedReader other = stream(desk, token, "0")) {
        desk.enqueue("'shop', 'orders'");
        desk.carry(1, "");
        line(other, "\"outcomes\"");
      }
      try (BufferedReader next = stream(desk, token, last)) {
        assertThat(line(next, "\"outcomes\""))
            .contains(between.toString())
            .doesNotContain(before.toString());
      }
    }
  }
}
