package dev.postrider.bench;

import java.util.Base64;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** What the parts of the comparison share. Used by one thread. */
record Stage(
    BenchDatabase database,
    Options options,
    Report report,
    PeerProcesses processes,
    Map<String, Tally> tallies) {

  static final String[] COSTS = {
    "CPU us server", "CPU us client", "WAL bytes", "row versions", "statements", "heap MB"
  };

  /** Lost and duplicate messages of one variant, over all rounds. */
  record Tally(long lost, long duplicates) {
    /** What processes that shared a backlog say they have got. */
    static Tally of(int backlog, List<PeerProcess.Answer> closed) {
      BitSet seen = new BitSet();
      long handled = 0;
      for (PeerProcess.Answer answer : closed) {
        seen.or(BitSet.valueOf(Base64.getDecoder().decode(answer.text("seen"))));
        handled += answer.number("handled");
      }
      return new Tally(backlog - seen.cardinality(), handled - seen.cardinality());
    }

    Tally plus(Tally other) {
      return new Tally(lost + other.lost, duplicates + other.duplicates);
    }
  }

  Stage(BenchDatabase database, Options options, Report report, PeerProcesses processes) {
    this(database, options, report, processes, new HashMap<>());
  }

  /** A peer that fails spoils its own round, not the run. */
  void variant(Rounds rounds, String name, Contestant contestant, Rounds.Variant variant) {
    rounds.variant(
        name,
        () -> {
          try {
            return variant.measure();
          } catch (IllegalStateException e) {
            System.err.println(name + " failed: " + e.getMessage());
            processes.discard(contestant);
            return Double.NaN;
          }
        });
  }

  void count(String variant, Tally tally) {
    tallies.merge(variant, tally, Tally::plus);
  }

  Tally tally(String variant) {
    return Objects.requireNonNullElse(tallies.get(variant), new Tally(0, 0));
  }

  /** The name of the peer with the highest median; a peer that failed has none. */
  static String best(Rounds.Result result, List<Contestant> of) {
    return of.stream()
        .map(Contestant::name)
        .filter(name -> !Double.isNaN(result.median(name)))
        .max((a, b) -> Double.compare(result.median(a), result.median(b)))
        .orElse(of.get(0).name());
  }

  /** Cells for {@link #COSTS}. */
  String[] costs(String prefix, String variant, Rounds.Result result) {
    String key = prefix + "_" + Report.key(variant);
    double[] costs = {
      result.medianCost(variant, Meter.Cost::serverMicros),
      result.medianCost(variant, Meter.Cost::clientMicros),
      result.medianCost(variant, Meter.Cost::walBytes),
      result.medianCount(variant, Meter.Counts::rowVersions),
      result.medianCount(variant, Meter.Counts::statements),
      result.medianCount(variant, Meter.Counts::heapBytes) / 1e6
    };
    String[] names = {
      "server_cpu_us", "client_cpu_us", "wal_bytes", "row_versions", "statements", "heap_mb"
    };
    String[] cells = new String[costs.length];
    for (int i = 0; i < costs.length; i++) {
      report.figure(key + "_" + names[i], costs[i]);
      cells[i] =
          String.format(
              Locale.ROOT, costs[i] < 10 ? "%.2f" : costs[i] < 100 ? "%.1f" : "%,.0f", costs[i]);
    }
    return cells;
  }

  static String rate(double value) {
    return Double.isNaN(value) ? "failed" : String.format(Locale.ROOT, "%,.0f", value);
  }
}
