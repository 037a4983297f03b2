package dev.postrider.server.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.internal.stream.StreamEvent;
import dev.postrider.message.Route;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("CH-4")
class WindowTest {
  @Test
  void keepsTheNewestByCount() {
    Window window = new Window(3, 1 << 20);
    window.startAt(10);
    for (long position = 11; position <= 15; position++) {
      window.add(entry(position, 10));
    }
    assertThat(window.last()).isEqualTo(15);
    assertThat(window.covers(11)).isFalse();
    assertThat(window.after(11)).isNull();
    assertThat(window.covers(12)).isTrue();
    assertThat(window.after(12).event().position()).isEqualTo(13);
    assertThat(window.after(14).event().position()).isEqualTo(15);
    assertThat(window.after(15)).isNull();
    assertThat(window.covers(15)).isTrue();
  }

  @Test
  void keepsTheNewestByBytesAndAtLeastOne() {
    Window window = new Window(100, 30_000);
    window.startAt(0);
    window.add(entry(1, 10_000));
    window.add(entry(2, 10_000));
    assertThat(window.covers(0)).isTrue();
    window.add(entry(3, 10_000));
    assertThat(window.covers(0)).isFalse();
    assertThat(window.covers(1)).isTrue();
    window.add(entry(4, 1_000_000));
    assertThat(window.covers(2)).isFalse();
    assertThat(window.after(3).event().position()).isEqualTo(4);
  }

  @Test
  void startsAnew() throws Exception {
    Window window = new Window(3, 1 << 20);
    assertThat(window.awaitStart(Duration.ofMillis(1))).isFalse();
    window.startAt(0);
    assertThat(window.awaitStart(Duration.ofMillis(1))).isTrue();
    window.add(entry(1, 10));
    window.startAt(7);
    assertThat(window.covers(6)).isFalse();
    assertThat(window.after(7)).isNull();
  }

  @Test
  void asManyEventsAsPromisedFitWhenTheyAreOfOrdinarySize() {
    StreamConfig usual = StreamConfig.DEFAULT;
    Window window = new Window(usual.bufferEvents(), usual.bufferBytes());
    window.startAt(0);
    for (int position = 1; position <= usual.bufferEvents(); position++) {
      window.add(entry(position, 3_000));
    }
    assertThat(window.covers(0)).isTrue();
  }

  @Test
  void aConfigurationSaysAllThatIsWrong() {
    Duration zero = Duration.ZERO;
    assertThatThrownBy(
            () -> new StreamConfig(new StreamConfig.Places(0, 0, 0), 0, 0, 0, zero, zero, zero))
        .hasMessageContainingAll(
            "clients 1..100000, got 0",
            "bufferEvents",
            "bufferBytes",
            "catchUps",
            "heartbeat 100 ms..5 min",
            "stall",
            "poll");
  }

  private static Entry entry(long position, int payload) {
    return new Entry(
        new StreamEvent(
            position,
            new UUID(0, position),
            new Route("a", "b"),
            null,
            null,
            null,
            null,
            Instant.EPOCH,
            1,
            new StreamEvent.Content(
                "text/plain",
                false,
                Map.of(),
                "x".repeat(payload).getBytes(java.nio.charset.StandardCharsets.UTF_8))));
  }
}
