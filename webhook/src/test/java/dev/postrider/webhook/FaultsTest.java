package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.ErrorReport;
import dev.postrider.message.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Receivers that are slow, endless, broken or no HTTP servers at all. */
@Tag("OP-6")
@Tag("EN-10")
@Timeout(60)
class FaultsTest {
  private static final String OK = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
  private static final Duration SHORT = Duration.ofMillis(700);
  private static final Duration LONG = Duration.ofSeconds(50);

  private static Outcome against(RawServer.Script script, Duration deadline) {
    try (RawServer server = new RawServer(script)) {
      return Hooks.send(patient(server).deadline(deadline));
    }
  }

  /** Only the deadline can end a request. */
  private static WebhookConfig.Builder patient(RawServer server) {
    return server.hook().connectTimeout(SHORT).responseTimeout(LONG).deadline(LONG);
  }

  @Test
  void aSilentReceiverIsLeftAfterTheResponseTimeout() {
    try (RawServer server = new RawServer(RawServer.Talk::hang)) {
      Outcome outcome = Hooks.send(server.hook().responseTimeout(Duration.ofMillis(200)));
      assertThat(Hooks.kind(outcome)).isEqualTo("retryable timeout");
      assertThat(Hooks.error(outcome)).contains("fell silent");
    }
  }

  @Test
  void headersThatDripAreLeftAtTheDeadline() throws Exception {
    try (RawServer server =
        new RawServer(
            talk -> {
              talk.readRequest();
              talk.write("HTTP/1.1 200 OK\r\nx-slow: ");
              talk.repeat("a", 20);
            })) {
      Outcome outcome = Hooks.send(patient(server).deadline(SHORT));
      assertThat(Hooks.kind(outcome)).isEqualTo("retryable timeout");
      assertThat(Hooks.error(outcome)).contains("700 ms");
      assertThat(server.closedByClient.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void interimAnswersWithoutEndAreLeftAtTheDeadline() {
    Outcome outcome =
        against(
            talk -> {
              talk.readRequest();
              talk.repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 5);
            },
            SHORT);
    assertThat(Hooks.kind(outcome)).isEqualTo("retryable timeout");
  }

  @Test
  void headersWithoutEndAreABadResponse() {
    Outcome many =
        against(
            talk -> {
              talk.readRequest();
              talk.write("HTTP/1.1 200 OK\r\n");
              talk.repeat("x-more: and more\r\n", 0);
            },
            LONG);
    assertThat(Hooks.kind(many)).isEqualTo("retryable bad_response");
    Outcome wide =
        against(
            talk -> {
              talk.readRequest();
              talk.write("HTTP/1.1 200 OK\r\nx-wide: ");
              talk.repeat("wider".repeat(100), 0);
            },
            LONG);
    assertThat(Hooks.kind(wide)).isEqualTo("retryable bad_response");
  }

  @Test
  void theStatusDecidesHoweverSlowlyTheBodyDrips() {
    Outcome accepted = against(talk -> drip(talk, "200 OK"), LONG);
    assertThat(Hooks.kind(accepted)).isEqualTo("delivered");
    Outcome failed = against(talk -> drip(talk, "500 Oops"), LONG);
    assertThat(Hooks.kind(failed)).isEqualTo("retryable http_500");
    assertThat(Hooks.error(failed)).startsWith("HTTP 500:\nzz");
  }

  @Test
  void theStatusDecidesAlsoIfTheDeadlineEndsTheBody() {
    assertThat(Hooks.kind(against(talk -> drip(talk, "200 OK"), SHORT))).isEqualTo("delivered");
    assertThat(Hooks.kind(against(talk -> drip(talk, "400 No"), SHORT)))
        .isEqualTo("terminal http_400");
  }

  private static void drip(RawServer.Talk talk, String status) throws IOException {
    talk.readRequest();
    talk.write("HTTP/1.1 " + status + "\r\ncontent-length: 1000000\r\n\r\n");
    talk.repeat("z", 20);
  }

  @Test
  void aBodyWithoutEndIsCutAndItsConnectionDropped() throws Exception {
    try (RawServer server =
        new RawServer(
            talk -> {
              talk.readRequest();
              talk.write("HTTP/1.1 503 Busy\r\ntransfer-encoding: chunked\r\n\r\n");
              talk.repeat("1000\r\n" + "e".repeat(0x1000) + "\r\n", 0);
            })) {
      Outcome outcome = Hooks.send(patient(server));
      assertThat(Hooks.kind(outcome)).isEqualTo("retryable http_503");
      assertThat(Hooks.error(outcome)).hasSizeLessThan(600).endsWith("eee...");
      assertThat(server.closedByClient.await(20, TimeUnit.SECONDS)).isTrue();
      // What fits into the sockets' buffers, and no more.
      assertThat(server.bytesWritten.get()).isLessThan(64L << 20);
    }
  }

  @Test
  void garbageIsABadResponse() {
    Outcome outcome =
        against(
            talk -> {
              talk.readRequest();
              talk.write("SSH-2.0-OpenSSH_9.6\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
              talk.hang();
            },
            LONG);
    assertThat(Hooks.kind(outcome)).isEqualTo("retryable bad_response");
  }

  /** The HTTP client quotes bytes that it cannot read. They may be the payload. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "card 4111-1111\r\n\r\n",
        "HTTP/1.1 card 4111-1111\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncard 4111-1111\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 4111-1111\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: 4111-1111\r\n\r\n"
      })
  void whatAReceiverSaidIsKeptApartAlsoIfItIsNotHttp(String said) {
    Outcome outcome =
        against(
            talk -> {
              talk.readRequest();
              talk.write(said);
            },
            LONG);
    assertThat(Hooks.kind(outcome)).startsWith("retryable ");
    assertThat(ErrorReport.withoutReply(Hooks.error(outcome))).doesNotContain("4111").isNotEmpty();
  }

  @Test
  void aBrokenConnectionIsNamed() {
    Outcome reset =
        against(
            talk -> {
              talk.readRequest();
              talk.reset();
            },
            LONG);
    assertThat(Hooks.kind(reset)).isEqualTo("retryable connection_broken");
    Outcome halfAHead =
        against(
            talk -> {
              talk.readRequest();
              talk.write("HTTP/1.1 2");
            },
            LONG);
    assertThat(Hooks.kind(halfAHead)).isEqualTo("retryable bad_response");
  }

  @Test
  void aBodyThatBreaksOffStillHasAStatus() {
    Outcome outcome =
        against(
            talk -> {
              talk.readRequest();
              talk.write("HTTP/1.1 422 No\r\ncontent-length: 100\r\n\r\nno such order");
            },
            LONG);
    assertThat(Hooks.kind(outcome)).isEqualTo("terminal http_422");
    assertThat(Hooks.error(outcome)).isEqualTo("HTTP 422:\nno such order");
  }

  @Test
  void nobodyListeningMeansUnavailable() {
    int port;
    try (RawServer server = new RawServer(RawServer.Talk::hang)) {
      port = server.port();
    }
    WebhookConfig.Builder nobody =
        WebhookConfig.to("http://127.0.0.1:" + port).key(Hooks.SECRET).allowNet("127.0.0.1");
    assertThat(Hooks.kind(Hooks.send(nobody))).isEqualTo("unavailable connect_failed");
  }

  @Test
  void aNameThatLeadsNowhereMeansUnavailable() {
    WebhookConfig.Builder unknown = WebhookConfig.to("https://nowhere.invalid/").key(Hooks.SECRET);
    assertThat(Hooks.kind(Hooks.send(unknown))).isEqualTo("unavailable unknown_host");
  }

  @Test
  void aLookUpThatHangsIsLeftAtTheDeadlineAndNothingIsSentAfterIt() throws Exception {
    CountDownLatch answer = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    try (RawServer server =
            new RawServer(
                talk -> {
                  talk.readRequest();
                  talk.hang();
                });
        WebhookDestination destination =
            Hooks.open(
                WebhookConfig.to("http://hooks.test:" + server.port())
                    .key(Hooks.SECRET)
                    .allowHost("hooks.test")
                    .lookup(
                        host -> {
                          awaitQuietly(answer);
                          answered.countDown();
                          return InetAddress.getAllByName("127.0.0.1");
                        })
                    .concurrency(1)
                    .connectTimeout(SHORT)
                    .deadline(SHORT))) {
      assertThat(Hooks.kind(Hooks.send(destination, Hooks.message("{}"))))
          .isEqualTo("retryable timeout");
      assertThat(Hooks.kind(Hooks.send(destination, Hooks.message("{}"))))
          .isEqualTo("unavailable endpoint_busy");
      answer.countDown();
      assertThat(answered.await(20, TimeUnit.SECONDS)).isTrue();
      await()
          .until(
              () ->
                  Hooks.kind(Hooks.send(destination, Hooks.message("{}")))
                      .equals("retryable timeout"));
      // The last one alone got as far as the receiver.
      assertThat(server.connections.get()).isEqualTo(1);
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void closingAnswersWhatIsUnderWay() {
    CountDownLatch asked = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            talk -> {
              talk.readRequest();
              asked.countDown();
              talk.hang();
            })) {
      WebhookDestination destination = Hooks.open(patient(server));
      CompletableFuture<Outcome> answer = Hooks.start(destination, Hooks.message("{}"));
      awaitQuietly(asked);
      destination.close();
      assertThat(Hooks.kind(answer.join())).isEqualTo("unavailable closed");
      assertThat(Hooks.kind(Hooks.send(destination, Hooks.message("{}"))))
          .isEqualTo("unavailable closed");
    }
  }

  @Test
  void aKeptConnectionThatTheReceiverDropsCostsNoTry() {
    try (RawServer server =
            new RawServer(
                talk -> {
                  talk.readRequest();
                  talk.write(OK);
                  if (talk.number > 1) {
                    talk.hang();
                  }
                  talk.readRequest(); // and closes instead of answering
                });
        WebhookDestination destination = Hooks.open(patient(server))) {
      assertThat(Hooks.kind(Hooks.send(destination, Hooks.message("1")))).isEqualTo("delivered");
      assertThat(Hooks.kind(Hooks.send(destination, Hooks.message("2")))).isEqualTo("delivered");
      assertThat(server.requests.get()).isEqualTo(3);
      assertThat(server.connections.get()).isEqualTo(2);
    }
  }

  @Test
  void aNewConnectionThatTheReceiverDropsIsTriedOnce() {
    AtomicInteger seen;
    try (RawServer server = new RawServer(RawServer.Talk::readRequest)) {
      seen = server.requests;
      assertThat(Hooks.kind(Hooks.send(patient(server)))).isEqualTo("retryable connection_broken");
    }
    assertThat(seen.get()).isEqualTo(1);
  }
}
