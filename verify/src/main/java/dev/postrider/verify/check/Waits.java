package dev.postrider.verify.check;

import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.FaultKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How long healthy messages waited (I10), and how quickly the flow came back after faults. */
final class Waits {
  private final History history;
  private final Bounds bounds;
  private final List<Violation> violations;
  private final List<Long> waits = new ArrayList<>();
  private final Map<FaultKind, List<Long>> resumed = new HashMap<>();
  private final Map<FaultKind, List<Long>> takenOver = new HashMap<>();
  private long openLong;

  Waits(History history, Bounds bounds, List<Violation> violations) {
    this.history = history;
    this.bounds = bounds;
    this.violations = violations;
  }

  void check() {
    Map<String, Windows> excused = new HashMap<>();
    for (Entry.Arrival arrival : Arrivals.first(history)) {
      Sent sent = history.messages.get(arrival.ref());
      Entry.Commit commit = sent == null ? null : sent.commit();
      if (sent == null || commit == null) {
        continue;
      }
      if (arrival.at() - commit.at() > bounds.retention().toNanos() / 1000) {
        openLong++;
      }
      if (sent.intent.kind() == Entry.Kind.HEALTHY) {
        Windows windows = excused.computeIfAbsent(arrival.sink(), this::excusedAt);
        long waited = windows.outside(Math.min(commit.at(), arrival.at()), arrival.at());
        waits.add(waited);
        if (waited > bounds.patience().toNanos() / 1000) {
          violations.add(
              new Violation(Invariant.I10, "waited %d ms: %s".formatted(waited / 1000, arrival)));
        }
      }
    }
    history.faults.forEach(this::resume);
    takeOvers();
  }

  /** The waits of healthy messages that no fault excuses, in microseconds. */
  List<Long> waits() {
    return waits;
  }

  /** From the moment when a server was back to the next settled delivery, in microseconds. */
  Map<FaultKind, List<Long>> resumed() {
    return resumed;
  }

  /** From the fault of a relay until its messages were handed over again, in microseconds. */
  Map<FaultKind, List<Long>> takenOver() {
    return takenOver;
  }

  /** Messages that were open for longer than delivered ones are kept (I7). */
  long openLong() {
    return openLong;
  }

  private Windows excusedAt(String sink) {
    List<long[]> windows = new ArrayList<>();
    for (Entry.Fault fault : history.faults) {
      if (fault.kind().ofRelay()) {
        windows.add(new long[] {fault.at(), fault.until() + micros(bounds.takeover())});
      } else if (hits(fault, sink)) {
        windows.add(new long[] {fault.at(), fault.until() + micros(bounds.resume())});
      }
    }
    return new Windows(windows);
  }

  private static boolean hits(Entry.Fault fault, String sink) {
    return fault.kind().ofDatabase() || List.of(fault.victim().split(",")).contains(sink);
  }

  /**
   * When the next delivery was settled. Only if no other fault hit meanwhile: then it is not known
   * what it waited for.
   */
  private void resume(Entry.Fault fault) {
    if (!fault.kind().ofServer()) {
      return;
    }
    for (Entry.Verdict verdict : history.verdicts) {
      if (verdict.accepted() && verdict.at() > fault.until() && hits(fault, verdict.sink())) {
        if (!disturbed(fault, fault.until(), verdict.at())) {
          resumed
              .computeIfAbsent(fault.kind(), k -> new ArrayList<>())
              .add(verdict.at() - fault.until());
        }
        return;
      }
    }
  }

  private boolean disturbed(Entry.Fault self, long from, long until) {
    return history.faults.stream()
        .anyMatch(f -> !f.equals(self) && f.at() <= until && f.until() >= from);
  }

  private record Delivery(String sink, String id) {}

  /** Messages that a relay held when it was hit, and that another one handed over later. */
  private void takeOvers() {
    Map<Delivery, Entry.Handover> last = new HashMap<>();
    for (Entry.Handover handover : history.handovers) {
      Entry.Handover before = last.put(new Delivery(handover.sink(), handover.id()), handover);
      if (before == null || before.relay().equals(handover.relay())) {
        continue;
      }
      for (Entry.Fault fault : history.faults) {
        boolean held = fault.at() >= before.at() && fault.at() <= handover.at();
        if (held
            && fault.kind().ofRelay()
            && fault.victim().equals(before.relay())
            && !disturbed(fault, fault.at(), handover.at())) {
          takenOver
              .computeIfAbsent(fault.kind(), k -> new ArrayList<>())
              .add(handover.at() - fault.at());
        }
      }
    }
  }

  private static long micros(Duration duration) {
    return duration.toNanos() / 1000;
  }
}
