package dev.postrider.verify.check;

import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.FaultKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What the checker found. Immutable. */
public final class Report {
  private static final int MOST_SHOWN = 10;

  private final History history;
  private final Bounds bounds;
  private final List<Violation> violations;
  private final Copies copies;
  private final Waits waits;

  Report(History history, Bounds bounds, List<Violation> violations, Copies copies, Waits waits) {
    this.history = history;
    this.bounds = bounds;
    this.violations = violations;
    this.copies = copies;
    this.waits = waits;
  }

  public List<Violation> violations() {
    return violations;
  }

  public long committed() {
    return Checker.committed(history);
  }

  public long arrived() {
    return history.arrivals.values().stream().mapToLong(List::size).sum();
  }

  /** Copies that something explains. */
  public long copies() {
    return copies.explained().values().stream().mapToLong(Long::longValue).sum();
  }

  /** Settlements that were refused because their lease was lost. */
  public long refusedSettlements() {
    return history.verdicts.stream().filter(verdict -> !verdict.accepted()).count();
  }

  /** Messages that were open for longer than delivered ones are kept. */
  public long openLong() {
    return waits.openLong();
  }

  public Map<FaultKind, Long> faults() {
    return history.faults.stream()
        .collect(Collectors.groupingBy(Entry.Fault::kind, TreeMap::new, Collectors.counting()));
  }

  /** Everything for people to read. */
  @Override
  public String toString() {
    List<String> lines = new ArrayList<>();
    lines.add("messages committed        " + committed());
    lines.add("transactions rolled back  " + history.rolledBack.size());
    lines.add("transactions in doubt     " + inDoubt());
    lines.add("arrivals                  " + arrived());
    lines.add("copies, explained by       " + copies.explained());
    lines.add("settlements refused       " + refusedSettlements());
    lines.add("open beyond retention     " + openLong());
    lines.add("faults                    " + faults());
    lines.add("waits of healthy messages " + quantiles(waits.waits()));
    waits.takenOver().forEach((k, t) -> lines.add("taken over, " + k + " " + quantiles(t)));
    waits.resumed().forEach((k, t) -> lines.add("resumed, " + k + " " + quantiles(t)));
    lines.add("bounds                    " + bounds);
    for (Invariant invariant : Invariant.values()) {
      List<Violation> of = violations.stream().filter(v -> v.invariant() == invariant).toList();
      lines.add("violations of %-3s         %d".formatted(invariant, of.size()));
      of.stream().limit(MOST_SHOWN).forEach(violation -> lines.add("  " + violation.what()));
    }
    return String.join("\n", lines);
  }

  private long inDoubt() {
    return history.transactions.keySet().stream()
        .filter(t -> !history.committed.contains(t) && !history.rolledBack.contains(t))
        .count();
  }

  private static String quantiles(List<Long> micros) {
    if (micros.isEmpty()) {
      return "none";
    }
    List<Long> sorted = micros.stream().sorted().toList();
    return "n=%d p50=%d ms p99=%d ms max=%d ms"
        .formatted(
            sorted.size(),
            sorted.get(sorted.size() / 2) / 1000,
            sorted.get((int) (sorted.size() * 0.99)) / 1000,
            sorted.get(sorted.size() - 1) / 1000);
  }
}
