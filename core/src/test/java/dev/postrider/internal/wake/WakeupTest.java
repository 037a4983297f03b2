package dev.postrider.internal.wake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.wake.Wakeup.Reason;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Signals, at once and later. */
@Tag("PO-7")
@Timeout(30)
class WakeupTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  private final Wakeup wakeup = new Wakeup();

  @Test
  void aDelayedSignalEndsAWait() throws InterruptedException {
    wakeup.signalAfter(Reason.NOTIFY, Duration.ofMillis(20));
    assertThat(wakeup.poll()).isEmpty();
    assertThat(wakeup.await(LONG)).containsExactly(Reason.NOTIFY);
    assertThat(wakeup.await(Duration.ZERO)).isEmpty();
  }

  @Test
  void ofSeveralDelayedSignalsTheFirstCounts() throws InterruptedException {
    wakeup.signalAfter(Reason.NOTIFY, Duration.ofMillis(20));
    wakeup.signalAfter(Reason.NOTIFY, LONG);
    assertThat(wakeup.await(LONG)).containsExactly(Reason.NOTIFY);
  }

  @Test
  void aSignalReplacesADelayedOne() throws InterruptedException {
    wakeup.signalAfter(Reason.NOTIFY, Duration.ofMillis(1));
    wakeup.signal(Reason.NOTIFY);
    assertThat(wakeup.await(LONG)).containsExactly(Reason.NOTIFY);
    assertThat(wakeup.await(Duration.ofMillis(20))).isEmpty();
  }

  @Test
  void anotherSignalLeavesADelayedOne() throws InterruptedException {
    wakeup.signalAfter(Reason.NOTIFY, Duration.ofMillis(20));
    wakeup.signal(Reason.ANSWER);
    assertThat(wakeup.await(LONG)).contains(Reason.ANSWER);
    assertThat(wakeup.await(LONG)).containsExactly(Reason.NOTIFY);
  }
}
