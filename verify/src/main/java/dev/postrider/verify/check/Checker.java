package dev.postrider.verify.check;

import dev.postrider.verify.journal.Entry;
import java.util.ArrayList;
import java.util.List;

/**
 * Judges a history by the promises of docs/reliability.md. It knows what producers, sinks and
 * relays wrote down, and nothing of the engine.
 */
public final class Checker {
  private Checker() {}

  public static Report check(History history, Bounds bounds) {
    List<Violation> violations = new ArrayList<>();
    Arrivals arrivals = new Arrivals(history, violations);
    arrivals.check();
    new Sequences(history, violations).check();
    Copies copies = new Copies(history, violations);
    copies.check();
    Waits waits = new Waits(history, bounds, violations);
    waits.check();
    return new Report(history, bounds, List.copyOf(violations), copies, waits);
  }

  /** Whether everything that was committed has arrived: then a run is over. */
  public static boolean complete(History history) {
    List<Violation> violations = new ArrayList<>();
    new Arrivals(history, violations).check();
    return violations.stream().noneMatch(v -> v.invariant() == Invariant.I1);
  }

  /** How many messages have an acknowledged commit. */
  static long committed(History history) {
    return history.messages.values().stream()
        .map(sent -> sent.intent)
        .map(Entry.Intent::transaction)
        .filter(history.committed::contains)
        .count();
  }
}
