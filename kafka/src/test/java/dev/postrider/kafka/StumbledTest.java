package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which keys go one message at a time. */
@Tag("PO-6")
class StumbledTest {
  private final AtomicLong now = new AtomicLong();
  private final Stumbled stumbled = new Stumbled(now::get);

  private static OrderingKey key(int number) {
    return new OrderingKey("run", "k" + number);
  }

  @Test
  void aKeyThatFailsAgainIsKeptInsteadOfOnesThatFailedBeforeThat() {
    for (int i = 0; i < Stumbled.MOST; i++) {
      stumbled.add(key(i));
    }
    stumbled.add(key(0));
    stumbled.add(key(Stumbled.MOST));
    assertThat(stumbled.has(key(0))).isTrue();
    assertThat(stumbled.has(key(1))).isFalse();
    assertThat(stumbled.has(key(2))).isTrue();
  }

  @Test
  void aKeyOfWhichNothingIsHeardIsForgotten() {
    stumbled.add(key(0));
    now.addAndGet(Stumbled.KEPT.toNanos() / 2);
    stumbled.add(key(1));
    now.addAndGet(Stumbled.KEPT.toNanos() / 2);
    assertThat(stumbled.has(key(0))).isFalse();
    assertThat(stumbled.has(key(1))).isTrue();
    stumbled.delivered(key(1));
    assertThat(stumbled.any()).isFalse();
  }
}
