package dev.postrider.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * From the commit to the handler at 200 messages a second: with producer and handler in two
 * processes, and in one.
 */
final class PeerLatency {
  private static final long PERIOD_NANOS = 5_000_000;
  private static final long LATE_MILLIS = 20_000;
  private static final String IN_PROCESS = ", in one process";
  private static final List<Contestant> CONTESTANTS =
      Contestant.peersAfter(Contestant.NOTIFY, Contestant.POSTRIDER);

  private final Stage stage;
  private final Map<String, List<Double>> samples = new HashMap<>();

  PeerLatency(Stage stage) {
    this.stage = stage;
  }

  void run() throws Exception {
    Rounds rounds = new Rounds(stage.database().meter());
    for (Contestant contestant : CONTESTANTS) {
      String name = contestant.name();
      stage.variant(rounds, name, contestant, () -> measure(contestant, name, "producer"));
      String inProcess = name + IN_PROCESS;
      stage.variant(rounds, inProcess, contestant, () -> measure(contestant, inProcess, ""));
    }
    rounds.run(1);
    samples.clear();
    report(rounds.run(stage.options().rounds()));
  }

  /** The median of a round, in milliseconds. */
  private double measure(Contestant contestant, String variant, String producerPart)
      throws Exception {
    int count = (int) Math.max(1, stage.options().round().toNanos() / PERIOD_NANOS);
    PeerProcess handler = stage.processes().of(contestant);
    PeerProcess producer = stage.processes().of(contestant, producerPart);
    handler.ask("install", "done");
    stage.database().settle();
    handler.ask((handler == producer ? "both " : "handle ") + count, "ready");
    String sent = producer.ask("produce %d %d".formatted(count, PERIOD_NANOS), "done").text("sent");
    String came = handler.ask("arrivals " + LATE_MILLIS, "done").text("times");
    long handled = handler.ask("stop", "closed").number("handled");
    handler.ask("install", "done");
    List<Double> millis = millis(numbers(sent), numbers(came));
    stage.count(variant, new Stage.Tally(count - millis.size(), handled - millis.size()));
    samples.computeIfAbsent(variant, v -> new ArrayList<>()).addAll(millis);
    return millis.isEmpty() ? Double.NaN : Rounds.Result.median(millis);
  }

  private static long[] numbers(String list) {
    return Stream.of(list.split(",", -1)).mapToLong(Long::parseLong).toArray();
  }

  private static List<Double> millis(long[] sentNanos, long[] cameNanos) {
    List<Double> millis = new ArrayList<>();
    for (int i = 0; i < sentNanos.length; i++) {
      if (cameNanos[i] != 0) {
        millis.add((cameNanos[i] - sentNanos[i]) / 1e6);
      }
    }
    return millis;
  }

  private double percentile(String variant, double share) {
    return Rounds.Result.percentile(samples.getOrDefault(variant, List.of()), share);
  }

  private void report(Rounds.Result result) {
    table(result, "latency across processes, 200 messages/s", "");
    table(result, "latency in one process, 200 messages/s", IN_PROCESS);
    for (double share : new double[] {0.5, 0.99}) {
      String p = "latency_p" + Math.round(share * 100) + "_vs_best_peer";
      stage.report().ratio(p, versusBest(share, ""));
      stage.report().ratio(p + "_in_process", versusBest(share, IN_PROCESS));
    }
  }

  private double versusBest(double share, String where) {
    double best =
        Contestant.PEERS.stream()
            .mapToDouble(peer -> percentile(peer.name() + where, share))
            .filter(value -> !Double.isNaN(value))
            .min()
            .orElse(Double.NaN);
    return percentile("postrider" + where, share) / best;
  }

  private void table(Rounds.Result result, String title, String where) {
    stage
        .report()
        .heading(title, "p50 ms", "p99 ms", "lowest p50", "highest p50", "lost", "duplicates");
    List<Chart.Bar> medians = new ArrayList<>();
    for (Contestant contestant : CONTESTANTS) {
      String variant = contestant.name() + where;
      double p50 = percentile(variant, 0.5);
      double p99 = percentile(variant, 0.99);
      List<Double> rounds = result.of(variant).stream().sorted().toList();
      Stage.Tally tally = stage.tally(variant);
      stage
          .report()
          .row(
              contestant.name(),
              millis(p50),
              millis(p99),
              millis(rounds.get(0)),
              millis(rounds.get(rounds.size() - 1)),
              Long.toString(tally.lost()),
              Long.toString(tally.duplicates()));
      String key = "latency_" + Report.key(variant);
      stage.report().figure(key + "_p50_ms", p50);
      stage.report().figure(key + "_p99_ms", p99);
      medians.add(new Chart.Bar(contestant.name(), p50, contestant.kind().colour()));
    }
    String name = where.isEmpty() ? "peers-latency" : "peers-latency-in-process";
    stage.report().chart(new Chart(name, "Median " + title + ", in ms", medians));
  }

  private static String millis(double value) {
    return Double.isNaN(value) ? "failed" : String.format(Locale.ROOT, "%.2f", value);
  }
}
