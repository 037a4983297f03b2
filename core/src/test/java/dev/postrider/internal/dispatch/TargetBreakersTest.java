package dev.postrider.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.internal.dispatch.CircuitBreaker.State;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("EN-17")
class TargetBreakersTest {
  private static final BreakerOptions OPTIONS =
      new BreakerOptions(3, Duration.ofSeconds(1), Duration.ofSeconds(8));

  private final List<String> changes = new ArrayList<>();
  private final TargetBreakers targets =
      new TargetBreakers(OPTIONS, (target, state) -> changes.add(target + " " + state.label()));
  private long now = System.nanoTime();

  private static DispatchItem parcel() {
    Message message =
        new Message(
            UUID.randomUUID(),
            new Route("shop", "orders"),
            null,
            0,
            null,
            null,
            null,
            null,
            null,
            Message.JSON,
            false,
            Map.of(),
            new byte[0],
            Instant.EPOCH,
            1,
            1,
            1);
    return new DispatchItem(
        new Claimed(message, 1, (short) 0, 0, "(0,1)"),
        new LeaseClock(1, System.nanoTime(), Duration.ofMinutes(1)),
        answered -> {},
        claimed -> null,
        null);
  }

  private @Nullable Duration deferral(String target) {
    return targets.deferral(target, parcel(), now);
  }

  private void fail(String target, int times) {
    for (int i = 0; i < times; i++) {
      assertThat(targets.failed(target, parcel(), now)).as("counts its attempt").isNull();
    }
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  @Test
  void failuresInARowOpenOneTargetAndNoOther() {
    fail("a", 2);
    targets.delivered("a");
    fail("a", 2);
    assertThat(deferral("a")).isNull();
    fail("a", 1);
    assertThat(deferral("a")).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1110));
    assertThat(deferral("b")).isNull();
    assertThat(changes).containsExactly("a open");
  }

  @Test
  void oneProbeGoesAtATimeAndAFailedOneComesBackBehindTheOthers() {
    fail("a", 3);
    pass(Duration.ofSeconds(1));
    DispatchItem probe = parcel();
    assertThat(targets.deferral("a", probe, now)).isNull();
    assertThat(targets.deferral("a", probe, now)).as("asked twice").isNull();
    assertThat(deferral("a")).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
    Duration again = targets.failed("a", probe, now);
    assertThat(again).isGreaterThanOrEqualTo(Duration.ofMillis(2500));
    assertThat(deferral("a")).isLessThan(again);
  }

  @Test
  void theProbesDeliveryClosesIt() {
    fail("a", 3);
    pass(Duration.ofSeconds(1));
    assertThat(deferral("a")).isNull();
    targets.delivered("a");
    assertThat(deferral("a")).isNull();
    assertThat(targets.anyFails()).isFalse();
    assertThat(changes).containsExactly("a open", "a closed");
  }

  @Test
  void thePauseDoublesUpToItsLimit() {
    fail("a", 3);
    Duration last = Duration.ZERO;
    for (int i = 0; i < 6; i++) {
      pass(Duration.ofSeconds(20));
      DispatchItem probe = parcel();
      assertThat(targets.deferral("a", probe, now)).isNull();
      last = targets.failed("a", probe, now);
      probe.probed.probe = null;
    }
    assertThat(last).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(12));
  }

  @Test
  void deferredMessagesComeBackAtABoundedRate() {
    fail("a", 3);
    Duration last = Duration.ZERO;
    for (int i = 0; i < 60 * TargetBreakers.RETURNS_PER_SECOND; i++) {
      last = deferral("a");
    }
    assertThat(last).isGreaterThanOrEqualTo(Duration.ofSeconds(60));
    fail("b", 3);
    assertThat(deferral("b"))
        .as("a target does not wait for another")
        .isLessThan(Duration.ofSeconds(2));
  }

  @Test
  void noDeferralIsLongerThanItsLimit() {
    fail("a", 3);
    for (int i = 0; i < 2 * TargetBreakers.LONGEST.toSeconds() * 1000; i++) {
      Duration deferral = deferral("a");
      if (deferral.compareTo(TargetBreakers.LONGEST.multipliedBy(2)) > 0) {
        assertThat(deferral).isLessThan(TargetBreakers.LONGEST);
      }
    }
    assertThat(deferral("a"))
        .isBetween(TargetBreakers.LONGEST.dividedBy(2), TargetBreakers.LONGEST);
  }

  @Test
  void holdsNoMoreTargetsThanItsLimit() {
    for (int i = 0; i < 3 * TargetBreakers.MOST; i++) {
      fail("once-" + i, 1);
      fail("open-" + i, 3);
    }
    assertThat(targets.failingCount()).isLessThanOrEqualTo(TargetBreakers.MOST);
    assertThat(targets.openCount()).isEqualTo(TargetBreakers.MOST);
    assertThat(deferral("open-0")).isNotNull();
    assertThat(deferral("open-" + (3 * TargetBreakers.MOST - 1))).as("is tried").isNull();
    for (int i = 0; i < 3 * TargetBreakers.MOST; i++) {
      targets.delivered("once-" + i);
      targets.delivered("open-" + i);
    }
    assertThat(targets.anyFails()).isFalse();
  }

  @Test
  void aTargetWithoutMessagesIsForgotten() {
    fail("a", 3);
    pass(TargetBreakers.LONGEST);
    targets.sweep(now);
    assertThat(targets.openCount()).isEqualTo(1);
    pass(TargetBreakers.LONGEST.plusMinutes(1));
    targets.sweep(now);
    assertThat(targets.openCount()).isZero();
    assertThat(changes).endsWith("a closed");
  }

  @Test
  void closingTellsOfEachThatWasOpen() {
    fail("a", 3);
    fail("b", 2);
    targets.close();
    assertThat(changes).containsExactly("a " + State.OPEN.label(), "a closed");
  }
}
