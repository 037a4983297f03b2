package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which keys go one message at a time. */
@Tag("PO-6")
class FailingKeysTest {
  private final AtomicLong now = new AtomicLong();
  private final FailingKeys failingKeys = new FailingKeys(now::get);

  private static OrderingKey key(int number) {
    return new OrderingKey("run", "k" + number);
  }

  @Test
  void aKeyThatFailsAgainIsKeptInsteadOfOnesThatFailedBeforeThat() {
    for (int i = 0; i < FailingKeys.MOST; i++) {
      failingKeys.add(key(i));
    }
    failingKeys.add(key(0));
    failingKeys.add(key(FailingKeys.MOST));
    assertThat(failingKeys.has(key(0))).isTrue();
    assertThat(failingKeys.has(key(1))).isFalse();
    assertThat(failingKeys.has(key(2))).isTrue();
  }

  @Test
  void aKeyOfWhichNothingIsHeardIsForgotten() {
    failingKeys.add(key(0));
    now.addAndGet(FailingKeys.KEPT.toNanos() / 2);
    failingKeys.add(key(1));
    now.addAndGet(FailingKeys.KEPT.toNanos() / 2);
    assertThat(failingKeys.has(key(0))).isFalse();
    assertThat(failingKeys.has(key(1))).isTrue();
    failingKeys.delivered(key(1));
    assertThat(failingKeys.any()).isFalse();
  }
}
