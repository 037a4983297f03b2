package dev.postrider.bench;

import java.util.ArrayList;
import java.util.List;

/** Producers that commit a business insert and a message; nothing handles messages meanwhile. */
final class PeerEnqueue {
  private static final List<Contestant> CONTESTANTS =
      Contestant.peersAfter(Contestant.BUSINESS, Contestant.PLAIN_INSERT, Contestant.POSTRIDER);

  private final Stage stage;

  PeerEnqueue(Stage stage) {
    this.stage = stage;
  }

  Rounds.Result run() throws Exception {
    Rounds rounds = new Rounds(stage.database().meter());
    for (Contestant contestant : CONTESTANTS) {
      stage.variant(rounds, contestant.name(), contestant, () -> measure(contestant));
    }
    rounds.run(1);
    Rounds.Result result = rounds.run(stage.options().rounds());
    report(result);
    return result;
  }

  private double measure(Contestant contestant) throws Exception {
    PeerProcess process = stage.processes().of(contestant);
    process.ask("install", "done");
    stage.database().settle();
    Bill bill = new Bill(stage.database());
    int producers = stage.options().producers();
    process.ask("enqueue %d %d".formatted(producers, stage.options().round().toMillis()), "ready");
    bill.begin();
    PeerProcess.Answer done = process.ask("go", "done");
    long count = Math.max(1, done.number("count"));
    bill.stop(count);
    PeerProcess.Answer closed = process.expect("closed");
    bill.settle((double) count, (double) done.number("cpu"), (double) closed.number("heap"));
    process.ask("install", "done"); // the next one shall not vacuum what this one left
    return count / ((done.number("to") - done.number("from")) / 1e9);
  }

  private void report(Rounds.Result result) {
    Report report = stage.report();
    List<String> heading =
        new ArrayList<>(
            List.of("enqueue, " + stage.options().producers() + " producers", "commits/s"));
    heading.addAll(List.of("lowest", "highest"));
    heading.addAll(List.of(Stage.COSTS));
    report.heading(heading.toArray(String[]::new));
    List<Chart.Bar> bars = new ArrayList<>();
    for (Contestant contestant : CONTESTANTS) {
      String name = contestant.name();
      List<String> row = new ArrayList<>(List.of(name));
      row.addAll(List.of(result.spread(name)));
      row.addAll(List.of(stage.costs("enqueue", name, result)));
      report.row(row.toArray(String[]::new));
      report.figure("enqueue_" + Report.key(name) + "_per_second", result.median(name));
      bars.add(new Chart.Bar(name, result.median(name), contestant.kind().colour()));
    }
    report.chart(
        new Chart("peers-enqueue", "Enqueue: transactions with a message, per second", bars));
    report.ratio(
        "enqueue_vs_best_peer", result.ratio("postrider", Stage.best(result, Contestant.PEERS)));
    report.ratio("peers_enqueue_vs_plain_insert", result.ratio("postrider", "plain insert"));
  }
}
