package dev.postrider.verify.check;

import dev.postrider.verify.check.History.Place;
import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.FaultKind;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Messages that arrived more than once (I9), settlements of lost leases (I5) and effects (I8).
 *
 * <p>A copy is explained if, between the two hand-overs, something was killed or frozen that could
 * have lost the answer of the first: its relay, the database or the sink. Else the relay must have
 * noted that its lease was lost, or that it got no answer. A copy with the same token is the
 * broker's or the consumer's own.
 */
final class Copies {
  private final History history;
  private final List<Violation> violations;
  private final Map<Handed, Entry.Handover> handovers = new HashMap<>();
  private final Set<Handed> lostLeases = new HashSet<>();
  private final Set<Handed> unanswered = new HashSet<>();
  private final Map<Cause, Long> explained = new EnumMap<>(Cause.class);

  /** Why a message came again. */
  enum Cause {
    FAULT,
    LOST_LEASE,
    NO_ANSWER
  }

  private record Handed(String sink, String id, long token) {}

  private record Delivery(String sink, String id) {}

  Copies(History history, List<Violation> violations) {
    this.history = history;
    this.violations = violations;
    for (Entry.Handover handover : history.handovers) {
      handovers.putIfAbsent(new Handed(handover.sink(), handover.id(), handover.token()), handover);
    }
    for (Entry.Verdict verdict : history.verdicts) {
      if (!verdict.accepted()) {
        lostLeases.add(new Handed(verdict.sink(), verdict.id(), verdict.token()));
      }
    }
    for (Entry.Unanswered missing : history.unanswered) {
      unanswered.add(new Handed(missing.sink(), missing.id(), missing.token()));
    }
  }

  void check() {
    history.arrivals.values().forEach(this::checkCopies);
    checkSettlements();
    checkEffects();
  }

  Map<Cause, Long> explained() {
    return explained;
  }

  private void checkCopies(List<Entry.Arrival> arrivals) {
    Map<String, Entry.Arrival> last = new HashMap<>();
    for (Entry.Arrival arrival : arrivals) {
      Entry.Arrival before = last.put(arrival.ref(), arrival);
      if (before == null || history.refused.contains(new Place(arrival.sink(), arrival.ref()))) {
        continue;
      }
      Cause cause = cause(before, arrival);
      if (cause == null) {
        violations.add(
            new Violation(Invariant.I9, "nothing explains " + arrival + " after " + before));
      } else {
        explained.merge(cause, 1L, Long::sum);
      }
    }
  }

  private @Nullable Cause cause(Entry.Arrival before, Entry.Arrival again) {
    if (before.token() == again.token()) {
      return anyFault(before.at(), again.at(), f -> ofSink(f, again.sink())) ? Cause.FAULT : null;
    }
    Entry.Handover first = handover(before);
    Entry.Handover second = handover(again);
    if (first == null || second == null) {
      return null; // nobody handed it over
    }
    Entry.Handover older = first.token() < second.token() ? first : second;
    long from = Math.min(first.at(), second.at());
    long until = Math.max(Math.max(first.at(), second.at()), again.at());
    Handed handed = new Handed(older.sink(), older.id(), older.token());
    if (anyFault(from, until, f -> takesAnswerOf(older, f))) {
      return Cause.FAULT;
    }
    return lostLeases.contains(handed)
        ? Cause.LOST_LEASE
        : unanswered.contains(handed) ? Cause.NO_ANSWER : null;
  }

  private static boolean takesAnswerOf(Entry.Handover handover, Entry.Fault fault) {
    return fault.kind().ofDatabase()
        || (fault.kind().ofRelay() && fault.victim().equals(handover.relay()))
        || ofSink(fault, handover.sink());
  }

  private Entry.@Nullable Handover handover(Entry.Arrival arrival) {
    return handovers.get(new Handed(arrival.sink(), arrival.id(), arrival.token()));
  }

  /** The victim of a fault of a broker or a consumer is the sinks behind it. */
  private static boolean ofSink(Entry.Fault fault, String sink) {
    return (fault.kind() == FaultKind.RABBIT_KILL
            || fault.kind() == FaultKind.KAFKA_KILL
            || fault.kind() == FaultKind.CONSUMER_KILL)
        && List.of(fault.victim().split(",")).contains(sink);
  }

  private boolean anyFault(long from, long until, Predicate<Entry.Fault> relevant) {
    return history.faults.stream()
        .anyMatch(f -> f.at() <= until && f.until() >= from && relevant.test(f));
  }

  /** "Delivered" is the last word: it comes once, and under the highest token. */
  private void checkSettlements() {
    Map<Delivery, Entry.Verdict> accepted = new HashMap<>();
    for (Entry.Verdict verdict : history.verdicts) {
      if (verdict.accepted()) {
        Delivery delivery = new Delivery(verdict.sink(), verdict.id());
        Entry.Verdict before = accepted.put(delivery, verdict);
        if (before != null && !requeued(delivery)) {
          add("settled twice: " + before + " and " + verdict);
        }
      }
    }
    Set<Delivery> told = new HashSet<>();
    for (Entry.Handover handover : history.handovers) {
      Delivery delivery = new Delivery(handover.sink(), handover.id());
      Entry.Verdict verdict = accepted.get(delivery);
      if (verdict != null && verdict.token() < handover.token() && told.add(delivery)) {
        add("accepted under a lease that was lost: " + verdict + ", and there is " + handover);
      }
    }
  }

  private boolean requeued(Delivery delivery) {
    return history.handovers.stream()
        .anyMatch(
            h ->
                h.redelivery() && h.sink().equals(delivery.sink()) && h.id().equals(delivery.id()));
  }

  private void checkEffects() {
    Set<String> sinks = new HashSet<>();
    history.effects.forEach(
        (place, count) -> {
          sinks.add(place.sink());
          if (count != 1) {
            violations.add(new Violation(Invariant.I8, count + " effects of " + place));
          }
        });
    for (String sink : sinks) {
      for (Entry.Arrival arrival : history.arrivals.getOrDefault(sink, List.of())) {
        Place place = new Place(sink, arrival.ref());
        if (!history.effects.containsKey(place)) {
          violations.add(new Violation(Invariant.I8, "arrived without an effect: " + arrival));
        }
      }
    }
  }

  private void add(String what) {
    violations.add(new Violation(Invariant.I5, what));
  }
}
