package dev.postrider.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.dispatch.Dispatcher.Room;
import dev.postrider.message.Outcome;
import dev.postrider.observe.RelayListener;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long suspects have a destination to themselves, by a clock that the test moves. */
@Tag("EN-16")
@Tag("EN-18")
class CapacityTest {
  private static final Amount ONE = new Amount(1, 10);

  private final Breakers breakers =
      new Breakers(
          "test",
          HandlerDestination.inline(message -> Outcome.delivered()),
          DestinationOptions.DEFAULT,
          RelayListener.NONE);
  private final Capacity capacity = new Capacity(DestinationOptions.DEFAULT);
  private long now = System.nanoTime();

  private void pass(Duration time) {
    now += time.toNanos();
  }

  private @Nullable Room reserve() {
    return capacity.reserve(breakers, 100, 2, Amount.NONE, now);
  }

  private boolean aloneIsNext() {
    Room room = capacity.room(breakers, 100, 2, Amount.NONE, now);
    return room != null && room.alone();
  }

  private boolean othersAreNext() {
    Room room = capacity.room(breakers, 100, 2, Amount.NONE, now);
    return room != null && !room.alone();
  }

  /** A claim of a single suspect, which is answered after this time. */
  private void turn(Duration time) {
    Room room = reserve();
    assertThat(room).matches(Room::alone);
    capacity.took(DispatcherTest.run(null, 1).get(0));
    capacity.unreserve(capacity.keep(room, ONE, now), now);
    assertThat(reserve()).as("nothing goes with it").isNull();
    pass(time);
    capacity.settled(ONE, now);
  }

  private void turnInVain() {
    Room room = reserve();
    assertThat(room).matches(Room::alone);
    capacity.unreserve(capacity.keep(room, Amount.NONE, now), now);
  }

  @Test
  void whatWasClaimedBeforeMakesWayAfterASecond() {
    capacity.took(DispatcherTest.run(null, 1).get(0));
    assertThat(capacity.makesWay(now)).isFalse();
    assertThat(capacity.isolateSuspect(now)).isTrue();
    assertThat(reserve()).isNull();
    pass(Duration.ofMillis(990));
    assertThat(capacity.makesWay(now)).isFalse();
    pass(Duration.ofMillis(10));
    assertThat(capacity.makesWay(now)).isTrue();
    capacity.settled(ONE, now);
    assertThat(aloneIsNext()).isTrue();
  }

  @Test
  void suspectsFollowEachOtherUntilNoneIsLeft() {
    capacity.isolateSuspect(now);
    for (int i = 0; i < 5; i++) {
      turn(Duration.ofMillis(10));
      assertThat(aloneIsNext()).isTrue();
    }
    assertThat(capacity.makesWay(now)).isFalse();
    turnInVain();
    assertThat(othersAreNext()).isTrue();
  }

  @Test
  void noTurnBeginsAfterTwoSeconds() {
    capacity.isolateSuspect(now);
    turn(Duration.ofMillis(1900));
    assertThat(aloneIsNext()).isTrue();
    turn(Duration.ofMillis(200));
    assertThat(othersAreNext()).isTrue();
  }

  @Test
  void thenTheOthersHaveAsMuchTime() {
    capacity.isolateSuspect(now);
    turn(Duration.ofSeconds(30));
    assertThat(othersAreNext()).isTrue();
    pass(Duration.ofMillis(29_990));
    assertThat(capacity.isolateSuspect(now)).isFalse();
    assertThat(othersAreNext()).isTrue();
    pass(Duration.ofMillis(10));
    assertThat(capacity.isolateSuspect(now)).isTrue();
    assertThat(aloneIsNext()).isTrue();
  }
}
