package dev.postrider.verify.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.Entry.Arrival;
import dev.postrider.verify.journal.Entry.Commit;
import dev.postrider.verify.journal.Entry.Effect;
import dev.postrider.verify.journal.Entry.Fault;
import dev.postrider.verify.journal.Entry.Handover;
import dev.postrider.verify.journal.Entry.Intent;
import dev.postrider.verify.journal.Entry.Kind;
import dev.postrider.verify.journal.Entry.Refusal;
import dev.postrider.verify.journal.Entry.Rollback;
import dev.postrider.verify.journal.Entry.Unanswered;
import dev.postrider.verify.journal.Entry.Verdict;
import dev.postrider.verify.journal.FaultKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Forged histories: the checker must find what is wrong with each, and nothing wrong with none. */
class CheckerTest {
  private static final Bounds BOUNDS =
      new Bounds(
          Duration.ofSeconds(4),
          Duration.ofSeconds(5),
          Duration.ofSeconds(10),
          Duration.ofSeconds(60));
  private static final long SECOND = 1_000_000;

  /** Two messages of a key in one transaction, each delivered once. */
  private static List<Entry> clean() {
    return new ArrayList<>(
        List.of(
            intent(1, "t1", "a"),
            intent(1, "t1", "b"),
            new Commit(2, "t1", "a", "id-a", 1),
            new Commit(2, "t1", "b", "id-b", 2),
            handover(3, "r1", "a", 100),
            arrival(4, "a", 1, 100),
            new Verdict(5, "r1", "hand", "id-a", 100, true),
            handover(6, "r1", "b", 101),
            arrival(7, "b", 2, 101),
            new Verdict(8, "r1", "hand", "id-b", 101, true),
            new Effect(9, "hand", "a"),
            new Effect(9, "hand", "b")));
  }

  private static Intent intent(long at, String transaction, String ref) {
    return new Intent(at, transaction, ref, "k", List.of("hand"), Kind.HEALTHY);
  }

  private static Handover handover(long at, String relay, String ref, long token) {
    return new Handover(at, relay, "hand", "id-" + ref, token, false);
  }

  private static Arrival arrival(long at, String ref, long sequence, long token) {
    return new Arrival(at, "hand", ref, "id-" + ref, "k", sequence, token);
  }

  private static List<Entry> cleanAnd(Entry... more) {
    List<Entry> entries = clean();
    entries.addAll(Arrays.asList(more));
    return entries;
  }

  private static List<Entry> cleanWithout(Class<? extends Entry> kind, String ref) {
    List<Entry> entries = clean();
    entries.removeIf(entry -> kind.isInstance(entry) && entry.toString().contains(ref));
    return entries;
  }

  private static Set<Invariant> broken(List<Entry> entries) {
    // Through lines of text, as in a run.
    List<Entry> read = entries.stream().map(Entry::line).map(Entry::parse).toList();
    assertThat(read).isEqualTo(entries);
    return Checker.check(History.of(read), BOUNDS).violations().stream()
        .map(Violation::invariant)
        .collect(Collectors.toSet());
  }

  @Test
  void findsNothingWrongWithAnHonestHistory() {
    assertThat(broken(clean())).isEmpty();
  }

  @Test
  void findsALostMessage() {
    List<Entry> entries = cleanWithout(Arrival.class, "ref=b");
    assertThat(broken(entries)).containsExactly(Invariant.I1);
    assertThat(Checker.complete(History.of(entries))).isFalse();
    assertThat(Checker.complete(History.of(clean()))).isTrue();
  }

  @Test
  void findsATransactionInDoubtOfWhichAPartArrived() {
    assertThat(
            broken(
                cleanAnd(
                    new Intent(10, "t2", "c", null, List.of("hand", "kafka"), Kind.HEALTHY),
                    new Arrival(11, "hand", "c", "id-c", null, 0, 102))))
        .contains(Invariant.I1);
  }

  @Test
  void acceptsATransactionInDoubtThatNeverArrived() {
    assertThat(broken(cleanAnd(intent(10, "t2", "c")))).isEmpty();
  }

  @Test
  void findsAMessageThatNobodyWrote() {
    assertThat(broken(cleanAnd(new Arrival(11, "kafka", "x", "id-x", null, 0, 102))))
        .containsExactly(Invariant.I2);
  }

  @Test
  void findsAMessageThatWasRolledBack() {
    assertThat(
            broken(
                cleanAnd(
                    new Intent(10, "t2", "c", null, List.of("kafka"), Kind.HEALTHY),
                    new Rollback(11, "t2"),
                    new Arrival(12, "kafka", "c", "id-c", null, 0, 102))))
        .containsExactly(Invariant.I2);
  }

  @Test
  void findsAMessageAtTheWrongSink() {
    assertThat(broken(cleanAnd(new Arrival(11, "kafka", "a", "id-a", "k", 1, 102))))
        .containsExactly(Invariant.I2);
  }

  @Test
  void findsAnAlteredSequence() {
    List<Entry> entries = cleanWithout(Arrival.class, "ref=b");
    entries.add(arrival(7, "b", 3, 101));
    assertThat(broken(entries)).contains(Invariant.I2);
  }

  @Test
  void findsMessagesOfAKeyOutOfOrder() {
    List<Entry> entries = cleanWithout(Arrival.class, "ref=b");
    entries.add(arrival(3, "b", 2, 101));
    assertThat(broken(entries)).containsExactly(Invariant.I3);
  }

  @Test
  void acceptsThatAKeyGoesOnWithoutARefusedMessage() {
    List<Entry> entries = cleanWithout(Arrival.class, "ref=b");
    entries.add(arrival(3, "b", 2, 101));
    entries.add(new Refusal(2, "hand", "a"));
    assertThat(broken(entries)).isEmpty();
  }

  @Test
  void findsAGapInASequence() {
    assertThat(
            broken(
                cleanAnd(
                    intent(10, "t2", "c"),
                    new Commit(11, "t2", "c", "id-c", 4),
                    arrival(12, "c", 4, 102),
                    new Effect(13, "hand", "c"))))
        .containsExactly(Invariant.I4);
  }

  @Test
  void findsASequenceThatWasGivenTwice() {
    assertThat(
            broken(
                cleanAnd(
                    new Intent(10, "t2", "c", "k", List.of("kafka"), Kind.HEALTHY),
                    new Commit(11, "t2", "c", "id-c", 2),
                    new Arrival(12, "kafka", "c", "id-c", "k", 2, 102))))
        .containsExactly(Invariant.I4);
  }

  @Test
  void findsASequenceAgainstTheOrderOfCommits() {
    assertThat(
            broken(
                List.of(
                    intent(1, "t1", "a"),
                    new Commit(2, "t1", "a", "id-a", 2),
                    intent(3, "t2", "b"),
                    new Commit(4, "t2", "b", "id-b", 1),
                    arrival(5, "b", 1, 100),
                    arrival(6, "a", 2, 101))))
        .containsExactly(Invariant.I4);
  }

  @Test
  void findsASettlementUnderALostLease() {
    assertThat(
            broken(
                cleanAnd(
                    handover(9, "r2", "a", 103), new Fault(2, 8, FaultKind.RELAY_FREEZE, "r1"))))
        .containsExactly(Invariant.I5);
  }

  @Test
  void findsAMessageThatWasSettledTwice() {
    assertThat(broken(cleanAnd(new Verdict(9, "r2", "hand", "id-a", 99, true))))
        .containsExactly(Invariant.I5);
  }

  @Test
  void acceptsThatAStaleSettlementWasRefused() {
    assertThat(broken(cleanAnd(new Verdict(9, "r2", "hand", "id-a", 99, false)))).isEmpty();
  }

  @Test
  void findsAMessageThatWasEnqueuedTwice() {
    assertThat(broken(cleanAnd(new Commit(9, "t1", "a", "id-a2", 1))))
        .containsExactly(Invariant.I6);
    assertThat(
            broken(
                cleanAnd(
                    new Fault(4, 9, FaultKind.DATABASE_KILL, "database"),
                    new Handover(8, "r1", "hand", "id-a2", 104, false),
                    new Arrival(9, "hand", "a", "id-a2", "k", 1, 104))))
        .containsExactly(Invariant.I6);
  }

  @Test
  void findsTwoEffectsAndNone() {
    assertThat(broken(cleanAnd(new Effect(10, "hand", "a")))).containsExactly(Invariant.I8);
    assertThat(broken(cleanWithout(Effect.class, "ref=a"))).containsExactly(Invariant.I8);
  }

  @Test
  void findsACopyThatNothingExplains() {
    List<Entry> entries = cleanWithout(Verdict.class, "id-a");
    entries.add(handover(9, "r2", "a", 103));
    entries.add(arrival(10, "a", 1, 103));
    assertThat(broken(entries)).containsExactly(Invariant.I9);
    entries.add(new Fault(6, 7, FaultKind.RELAY_KILL, "r2"));
    assertThat(broken(entries)).as("another relay's death").containsExactly(Invariant.I9);
    entries.add(new Fault(11, 12, FaultKind.RELAY_KILL, "r1"));
    assertThat(broken(entries)).as("a death after the copy").containsExactly(Invariant.I9);
    entries.add(new Fault(5, 6, FaultKind.RELAY_KILL, "r1"));
    assertThat(broken(entries)).isEmpty();
  }

  @Test
  void acceptsACopyWhoseFirstHandOverLostItsLeaseOrGotNoAnswer() {
    List<Entry> entries = cleanWithout(Verdict.class, "id-a");
    entries.add(handover(9, "r2", "a", 103));
    entries.add(arrival(10, "a", 1, 103));
    entries.add(new Verdict(11, "r2", "hand", "id-a", 103, true));
    assertThat(broken(entries)).containsExactly(Invariant.I9);
    entries.add(new Unanswered(8, "r1", "hand", "id-a", 99, "timeout"));
    assertThat(broken(entries)).as("another hand-over").containsExactly(Invariant.I9);
    List<Entry> unanswered = new ArrayList<>(entries);
    unanswered.add(new Unanswered(8, "r1", "hand", "id-a", 100, "timeout"));
    assertThat(broken(unanswered)).isEmpty();
    entries.add(new Verdict(12, "r1", "hand", "id-a", 100, false));
    assertThat(broken(entries)).isEmpty();
  }

  @Test
  void findsACopyOfABrokerThatWasNotKilled() {
    List<Entry> entries = cleanAnd(arrival(10, "a", 1, 100));
    assertThat(broken(entries)).containsExactly(Invariant.I9);
    entries.add(new Fault(5, 6, FaultKind.CONSUMER_KILL, "other"));
    assertThat(broken(entries)).containsExactly(Invariant.I9);
    entries.add(new Fault(5, 6, FaultKind.RABBIT_KILL, "hand,other"));
    assertThat(broken(entries)).isEmpty();
  }

  @Test
  void findsAHealthyMessageThatWaitedTooLong() {
    List<Entry> entries = cleanWithout(Arrival.class, "ref=b");
    entries.add(arrival(20 * SECOND, "b", 2, 101));
    assertThat(broken(entries)).containsExactly(Invariant.I10);
    entries.add(new Fault(SECOND, 7 * SECOND, FaultKind.DATABASE_KILL, "database"));
    assertThat(broken(entries)).as("11 s of 20 s are excused").isEmpty();
  }

  @Test
  void doesNotExcuseAWaitWithTheFaultOfAnotherSink() {
    List<Entry> entries = cleanWithout(Arrival.class, "ref=b");
    entries.add(arrival(20 * SECOND, "b", 2, 101));
    entries.add(new Fault(SECOND, 7 * SECOND, FaultKind.KAFKA_KILL, "kafka"));
    assertThat(broken(entries)).containsExactly(Invariant.I10);
  }
}
