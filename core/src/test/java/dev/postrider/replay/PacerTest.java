package dev.postrider.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PacerTest {
  private final AtomicLong clock = new AtomicLong();
  private final List<Duration> waits = new ArrayList<>();

  @Test
  @Tag("HE-10")
  void waitsUntilTheMessagesSentHaveUsedUpTheirTime() throws Exception {
    Pacer pacer = pacer(100);
    pacer.sleep(pacer.sent(50));
    clock.addAndGet(Duration.ofMillis(100).toNanos());
    pacer.sleep(pacer.sent(50));
    pacer.sleep(pacer.sent(0));
    assertThat(waits).containsExactly(Duration.ofMillis(500), Duration.ofMillis(500));
  }

  @Test
  @Tag("HE-10")
  void timeLostIsNotMadeUpForByABurst() throws Exception {
    Pacer pacer = pacer(100);
    clock.addAndGet(Duration.ofMinutes(1).toNanos());
    pacer.sleep(pacer.sent(50));
    assertThat(waits).containsExactly(Duration.ofMillis(500));
  }

  @Test
  @Tag("HE-10")
  void stepsAreSmallAtLowRates() {
    assertThat(pacer(1).step()).isEqualTo(1);
    assertThat(pacer(100).step()).isEqualTo(50);
    assertThat(Pacer.unlimited().step()).isEqualTo(500);
    assertThatThrownBy(() -> pacer(0)).hasMessageContaining("above 0");
  }

  private Pacer pacer(double rate) {
    return new Pacer(
        rate,
        clock::get,
        time -> {
          waits.add(time);
          clock.addAndGet(time.toNanos());
        });
  }
}
