package dev.postrider.relay;

import static dev.postrider.relay.ClaimedMessages.claimed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.protocol.Claimed;
import dev.postrider.internal.wake.Wakeup.Reason;
import dev.postrider.relay.RestPolicy.Rest;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RestPolicyTest {
  private static final Duration POLL = Duration.ofSeconds(5);
  private static final Exchange.Result NOTHING =
      new Exchange.Result(Set.of(), List.of(), false, false, Duration.ZERO, Set.of());
  private static final Rest.Await LONG = new Rest.Await(POLL, false);

  private long now = 1;
  private final RestPolicy lead = new RestPolicy(true, true, POLL, () -> now);
  private final RestPolicy other = new RestPolicy(false, true, POLL, () -> now);

  private void pass(Duration time) {
    now += time.toNanos();
  }

  private static Exchange.Result took(boolean full, boolean partial, Claimed... messages) {
    return new Exchange.Result(Set.of(), List.of(messages), full, partial, Duration.ZERO, Set.of());
  }

  private static void claim(RestPolicy policy, Exchange.Result result) {
    policy.exchanged(result, false, true, false);
  }

  private static Rest rest(RestPolicy policy) {
    return policy.rest(true, false, false, false, false);
  }

  /** Brings the lead to sleep with the bell up. */
  private void sleep() {
    claim(lead, NOTHING);
    assertThat(rest(lead)).isInstanceOf(Rest.Arm.class);
    lead.armed(true);
    lead.discovered(false, Duration.ZERO);
    claim(lead, NOTHING);
  }

  @Test
  void itArmsThenLooksOnceMoreThenSleeps() {
    claim(lead, NOTHING);
    assertThat(lead.hungry()).isFalse();
    assertThat(rest(lead)).isInstanceOf(Rest.Arm.class);
    lead.armed(true);
    assertThat(lead.hungry()).isTrue();
    assertThat(lead.discover()).isTrue();
    lead.discovered(false, Duration.ZERO);
    claim(lead, NOTHING);
    assertThat(rest(lead)).isEqualTo(LONG);
  }

  @Test
  void anArmThatFailedIsTriedAgain() {
    claim(lead, NOTHING);
    lead.armed(false);
    assertThat(lead.hungry()).isFalse();
    assertThat(rest(lead)).isInstanceOf(Rest.Arm.class);
  }

  @Test
  void thePollRaisesTheFlagAgainFirst() {
    sleep();
    assertThat(lead.woken(LONG, Set.of())).containsExactly("poll");
    assertThat(lead.hungry()).isFalse();
    assertThat(rest(lead)).isInstanceOf(Rest.Arm.class);
  }

  @Test
  void itDoesNotArmWhileAnswersAreAboutToCome() {
    claim(lead, took(false, false, claimed(1, null)));
    claim(lead, NOTHING);
    pass(Duration.ofMillis(4));
    assertThat(lead.rest(true, true, false, false, false))
        .isEqualTo(new Rest.Await(Duration.ofMillis(6), true));
    pass(Duration.ofMillis(6));
    assertThat(lead.rest(true, true, false, false, false)).isInstanceOf(Rest.Arm.class);
  }

  @Test
  void othersNeverArmAndWaitToBeCalled() {
    claim(other, NOTHING);
    assertThat(rest(other)).isEqualTo(new Rest.Await(Duration.ofHours(1), false));
    assertThat(other.woken(LONG, Set.of(Reason.HELP))).isEmpty();
    assertThat(other.woken(LONG, Set.of(Reason.HELP))).containsExactly("help");
    assertThat(other.hungry()).isTrue();
  }

  @Test
  void callsInVainAreIgnoredMoreOftenUntilOneFindsWork() {
    for (int i = 0; i < 10; i++) {
      claim(other, NOTHING);
    }
    int ignored = 0;
    while (other.woken(LONG, Set.of(Reason.HELP)).isEmpty()) {
      ignored++;
    }
    assertThat(ignored).isEqualTo(15);
    claim(other, took(false, false, claimed(1, null)));
    assertThat(other.woken(LONG, Set.of(Reason.HELP))).containsExactly("help");
  }

  @Test
  void anAnswerAloneIsNoReasonToClaim() {
    sleep();
    assertThat(lead.woken(LONG, Set.of(Reason.ANSWER))).isEmpty();
    assertThat(lead.hungry()).isFalse();
    assertThat(lead.woken(LONG, Set.of(Reason.ANSWER, Reason.NOTIFY))).containsExactly("notify");
    assertThat(lead.hungry()).isTrue();
  }

  @Test
  void aFullClaimIsFollowedByAnother() {
    claim(lead, took(true, false, claimed(1, null)));
    assertThat(lead.hungry()).isTrue();
  }

  @Test
  void whatIsSettledAloneMakesItLookForMore() {
    claim(lead, NOTHING);
    lead.exchanged(NOTHING, true, false, false);
    assertThat(lead.hungry()).isTrue();
  }

  @Test
  void claimsThatSawAPartGoOnButNotForEver() {
    int looks = 0;
    do {
      claim(lead, took(false, true));
      looks++;
    } while (lead.hungry());
    assertThat(looks).isEqualTo(64);
    lead.woken(LONG, Set.of(Reason.NOTIFY));
    claim(lead, took(false, true));
    assertThat(lead.hungry()).isTrue();
  }

  @Test
  void withTheBellUpAFewMessagesWithoutAKeyWereAll() {
    sleep();
    claim(lead, took(false, false, claimed(1, null)));
    assertThat(lead.hungry()).isFalse();
    claim(lead, took(false, false, claimed(1, "ann")));
    assertThat(lead.hungry()).isTrue();
  }

  @Test
  void itDisarmsWhenWorkKeepsComing() {
    sleep();
    assertThat(lead.shouldDisarm(true)).isFalse();
    pass(Duration.ofMillis(50));
    assertThat(lead.shouldDisarm(true)).isFalse();
    pass(Duration.ofMillis(1));
    assertThat(lead.shouldDisarm(true)).isTrue();
    assertThat(lead.shouldDisarm(false)).isFalse();
    assertThat(lead.shouldDisarm(true)).isFalse();
  }

  @Test
  void ringsOfABurstAreTakenTogether() {
    assertThat(lead.debounce()).isZero();
    lead.rung(false);
    assertThat(lead.debounce()).isEqualTo(Duration.ofMillis(1));
    pass(Duration.ofMillis(2));
    assertThat(lead.debounce()).isZero();
    lead.discovered(false, Duration.ZERO);
    lead.rung(true);
    assertThat(lead.discover()).isTrue();
  }

  @Test
  void aLocalProducerThatWasNotFoundMayHaveANewTopic() {
    sleep();
    lead.woken(LONG, Set.of(Reason.LOCAL));
    claim(lead, NOTHING);
    assertThat(lead.discover()).isTrue();
    assertThat(lead.hungry()).isTrue();
  }

  @Test
  void itWaitsBrieflyForRoomAndForAnotherRelaysFanOut() {
    assertThat(rest(lead)).isEqualTo(new Rest.Await(Duration.ofMillis(50), true));
    assertThat(lead.woken(new Rest.Await(Duration.ofMillis(50), true), Set.of())).isEmpty();
    assertThat(lead.rest(true, false, true, false, false))
        .isEqualTo(new Rest.Pause(Duration.ofMillis(5)));
  }

  @Test
  void withoutATopicToServeThereIsNothingToClaim() {
    assertThat(lead.rest(false, false, false, false, false)).isInstanceOf(Rest.Arm.class);
    assertThat(lead.hungry()).isFalse();
  }

  /** Looks that find nothing and take this long each, from now on for so long. */
  private int looks(Duration each, boolean partial, Duration time) {
    long end = now + time.toNanos();
    int looks = 0;
    while (now < end) {
      if (lead.discover()) {
        pass(each);
        lead.discovered(false, each);
        looks++;
      }
      if (lead.hungry()) {
        pass(each);
        claim(lead, new Exchange.Result(Set.of(), List.of(), false, partial, each, Set.of()));
        looks++;
        continue;
      }
      Rest rest = rest(lead);
      if (rest instanceof Rest.Await wait) {
        pass(wait.time());
        lead.woken(wait, Set.of());
      } else {
        lead.armed(true);
      }
    }
    return looks;
  }

  @ParameterizedTest
  @CsvSource({"1, false", "1, true", "100, false", "100, true", "2000, false", "2000, true"})
  @Tag("EN-21")
  void anIdleRelaySearchesATenthOfTheTimeAtMost(int millis, boolean partial) {
    Duration each = Duration.ofMillis(millis);
    Duration hour = Duration.ofHours(1);
    looks(each, partial, POLL.multipliedBy(100));
    int looks = looks(each, partial, hour);
    int lastOnes = 3; // their rest comes after the hour
    assertThat((looks - lastOnes) * each.toMillis()).isLessThanOrEqualTo(hour.toMillis() / 10);
    assertThat(looks).as("it goes on to look").isGreaterThan(50);
  }

  @Test
  @Tag("EN-16")
  void aSignalEndsTheRestAfterASlowSearch() {
    sleep();
    Exchange.Result slow =
        new Exchange.Result(Set.of(), List.of(), false, true, Duration.ofSeconds(2), Set.of());
    lead.woken(LONG, Set.of());
    lead.armed(true);
    lead.discovered(false, Duration.ZERO);
    claim(lead, slow);
    assertThat(lead.hungry()).isFalse();
    assertThat(rest(lead)).isEqualTo(new Rest.Await(Duration.ofSeconds(18), false));
    lead.woken(LONG, Set.of(Reason.NOTIFY));
    for (int look = 1; look < 64; look++) {
      assertThat(lead.hungry()).as("look %d follows at once", look).isTrue();
      claim(lead, slow);
    }
  }

  @Test
  @Tag("EN-16")
  void aPollBringsEveryLookInItsTime() {
    sleep();
    Exchange.Result slow =
        new Exchange.Result(Set.of(), List.of(), false, false, Duration.ofSeconds(2), Set.of());
    claim(lead, slow);
    assertThat(rest(lead)).isEqualTo(new Rest.Await(Duration.ofSeconds(18), false));
    pass(Duration.ofSeconds(10));
    assertThat(rest(lead)).isEqualTo(new Rest.Await(Duration.ofSeconds(8), false));
    claim(lead, took(false, false, claimed(1, null)));
    assertThat(rest(lead)).isEqualTo(LONG);
  }

  @Test
  @Tag("EN-20")
  void whoHadNoRoomIsAskedAgainSoonWhileTheBellIsUp() {
    Rest.Await soon = new Rest.Await(Duration.ofMillis(50), true);
    claim(lead, NOTHING);
    assertThat(lead.rest(true, false, false, true, false)).isInstanceOf(Rest.Arm.class);
    lead.armed(true);
    lead.discovered(false, Duration.ZERO);
    claim(lead, NOTHING);
    assertThat(lead.rest(true, false, false, true, false)).isEqualTo(soon);
    assertThat(lead.woken(soon, Set.of())).isEmpty();
    assertThat(lead.hungry()).isFalse();
    pass(POLL);
    Rest.Await poll = new Rest.Await(Duration.ZERO, false);
    assertThat(lead.rest(true, false, false, true, false)).isEqualTo(poll);
    assertThat(lead.woken(poll, Set.of())).containsExactly("poll");
    claim(other, NOTHING);
    assertThat(other.rest(true, false, false, true, false)).isEqualTo(soon);
  }
}
