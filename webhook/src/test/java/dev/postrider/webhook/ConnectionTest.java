package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("OP-6")
class ConnectionTest {
  @Test
  void isKeptFromOneMessageToTheNext() {
    try (Receiver receiver = Receiver.plain();
        WebhookDestination destination = Hooks.open(Hooks.to(receiver))) {
      receiver.answer(Receiver.Answer.of(200, "thanks"));
      for (int i = 0; i < 20; i++) {
        Hooks.send(destination, Hooks.message("{}"));
      }
      assertThat(receiver.requests().stream().map(Receiver.Request::from).distinct()).hasSize(1);
    }
  }

  @Test
  void noneIsTheFaultOfAMessageAfterTheReceiverWasRestarted() throws Exception {
    try (Receiver receiver = Receiver.plain();
        WebhookDestination destination = Hooks.open(Hooks.to(receiver))) {
      assertThat(together(destination, 16)).allMatch(Outcome.delivered()::equals);
      receiver.stop();
      receiver.start();
      assertThat(together(destination, 16)).allMatch(Outcome.delivered()::equals);
    }
  }

  @Test
  void aRequestThatIsSentOnceMoreIsSignedAnew() {
    try (RawServer server =
            new RawServer(
                talk -> {
                  if (talk.readRequest()) {
                    talk.write("HTTP/1.1 204 No Content\r\n\r\n");
                  }
                  talk.readRequest(); // and closes without an answer
                });
        WebhookDestination destination = Hooks.open(server.hook().clock(new Ticking()))) {
      assertThat(Hooks.send(destination, Hooks.message("1"))).isEqualTo(Outcome.delivered());
      assertThat(Hooks.send(destination, Hooks.message("2"))).isEqualTo(Outcome.delivered());
      List<String> heads = List.copyOf(server.heads);
      assertThat(heads).hasSize(3);
      assertThat(header(heads.get(2), "webhook-id")).isEqualTo(header(heads.get(1), "webhook-id"));
      assertThat(header(heads.get(2), "webhook-timestamp"))
          .isNotEqualTo(header(heads.get(1), "webhook-timestamp"));
      assertThat(header(heads.get(2), "webhook-signature"))
          .isNotEqualTo(header(heads.get(1), "webhook-signature"));
    }
  }

  /** A second later whenever it is asked. */
  private static final class Ticking extends Clock {
    private final AtomicInteger seconds = new AtomicInteger();

    @Override
    public Instant instant() {
      return Instant.ofEpochSecond(1_800_000_000L + seconds.incrementAndGet());
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }

  private static String header(String head, String name) {
    return head.lines()
        .filter(line -> line.startsWith(name + ": "))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + name + " in " + head));
  }

  private static Queue<Outcome> together(WebhookDestination destination, int count)
      throws InterruptedException {
    List<Message> batch = IntStream.range(0, count).mapToObj(i -> Hooks.message("{}")).toList();
    Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
    CountDownLatch answered = new CountDownLatch(count);
    destination.deliver(
        batch,
        (id, outcome) -> {
          outcomes.add(outcome);
          answered.countDown();
        });
    assertThat(answered.await(30, TimeUnit.SECONDS)).isTrue();
    return outcomes;
  }

  @Test
  void ignoresTheProxiesOfTheMachine() {
    try (RawServer proxy = new RawServer(RawServer.Talk::hang);
        Receiver receiver = Receiver.plain()) {
      String port = Integer.toString(proxy.port());
      for (String kind : List.of("http.proxy", "https.proxy", "socksProxy")) {
        System.setProperty(kind + "Host", "127.0.0.1");
        System.setProperty(kind + "Port", port);
      }
      System.setProperty("http.nonProxyHosts", "");
      System.setProperty("socksNonProxyHosts", "");
      assertThat(Hooks.send(Hooks.to(receiver))).isEqualTo(Outcome.delivered());
      assertThat(proxy.connections.get()).isZero();
    } finally {
      for (String kind : List.of("http.proxy", "https.proxy", "socksProxy")) {
        System.clearProperty(kind + "Host");
        System.clearProperty(kind + "Port");
      }
      System.clearProperty("http.nonProxyHosts");
      System.clearProperty("socksNonProxyHosts");
    }
  }
}
