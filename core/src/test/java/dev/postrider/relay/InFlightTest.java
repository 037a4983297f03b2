package dev.postrider.relay;

import static dev.postrider.relay.ClaimedMessages.claimed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.protocol.ClaimSettlement;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class InFlightTest {
  private static final int BATCH = 4;

  private long now = 1_000_000;
  private final InFlight inFlight = new InFlight(BATCH, Duration.ofSeconds(30), () -> now);

  private void answer(Claimed claimed, boolean late) {
    inFlight.answered(new Answered(claimed, Outcome.delivered(), 1, null, late));
  }

  private List<Claimed> take() {
    return inFlight.takeAnswers(answer -> ClaimSettlement.released(answer.claimed())).stream()
        .map(ClaimSettlement::claimed)
        .toList();
  }

  @Test
  void aClaimIsHeldUntilItsLastMessageIsSettled() {
    Claimed one = claimed(5, null);
    Claimed two = claimed(5, null);
    assertThat(inFlight.add(one, now)).isSameAs(inFlight.add(two, now));
    assertThat(inFlight.tokens()).containsExactly(5L);
    inFlight.settled(one);
    assertThat(inFlight.leases()).hasSize(1);
    inFlight.settled(two);
    assertThat(inFlight.isEmpty()).isTrue();
  }

  @Test
  void fewAnswersWaitForMoreButNotForLong() {
    List<Claimed> messages = List.of(claimed(5, "ann"), claimed(5, "ann"), claimed(5, "ann"));
    messages.forEach(message -> inFlight.add(message, now));
    assertThat(inFlight.linger()).isZero();
    answer(messages.get(0), false);
    assertThat(inFlight.linger()).isEqualTo(Duration.ofMillis(5));
    now += Duration.ofMillis(4).toNanos();
    assertThat(inFlight.linger()).isEqualTo(Duration.ofMillis(1));
    now += Duration.ofMillis(1).toNanos();
    assertThat(inFlight.linger()).isZero();
    assertThat(take()).containsExactly(messages.get(0));
  }

  @Test
  void allAnswersOfWhatIsOpenWaitForNothing() {
    Claimed one = claimed(5, null);
    Claimed two = claimed(6, null);
    inFlight.add(one, now);
    inFlight.add(two, now);
    answer(one, false);
    answer(two, false);
    assertThat(inFlight.linger()).isZero();
    assertThat(take()).containsExactly(one, two);
  }

  @Test
  void oneCallSettlesAMessageOnce() {
    Claimed message = claimed(5, null);
    inFlight.add(message, now);
    answer(message, false);
    answer(message, true);
    assertThat(take()).containsExactly(message);
    inFlight.settled(message);
    assertThat(take()).containsExactly(message);
    inFlight.settled(message);
    assertThat(inFlight.isEmpty()).isTrue();
  }

  @Test
  void aLateAnswerKeepsTheClaimOfOthersOpen() {
    Claimed late = claimed(5, null);
    Claimed other = claimed(5, null);
    inFlight.add(late, now);
    inFlight.add(other, now);
    answer(late, false);
    take();
    inFlight.settled(late);
    answer(late, true);
    take();
    inFlight.settled(late);
    assertThat(inFlight.tokens()).containsExactly(5L);
    inFlight.settled(other);
    assertThat(inFlight.isEmpty()).isTrue();
  }

  @Test
  void oneTransactionSettlesABoundedNumber() {
    for (int i = 0; i < 5 * BATCH; i++) {
      Claimed message = claimed(i, null);
      inFlight.add(message, now);
      answer(message, false);
    }
    assertThat(take()).hasSize(4 * BATCH);
    assertThat(take()).hasSize(BATCH);
  }
}
