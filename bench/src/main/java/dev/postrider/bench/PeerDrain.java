package dev.postrider.bench;

import java.util.ArrayList;
import java.util.List;

/** A backlog to a handler that does nothing, until it is gone. */
final class PeerDrain {
  private static final String TWO = "postrider, two processes";
  private static final List<Contestant> CONTESTANTS =
      Contestant.peersAfter(Contestant.SCAN, Contestant.RAW_DELETE, Contestant.POSTRIDER);

  private final Stage stage;

  PeerDrain(Stage stage) {
    this.stage = stage;
  }

  Rounds.Result run() throws Exception {
    Rounds rounds = new Rounds(stage.database().meter());
    for (Contestant contestant : CONTESTANTS) {
      stage.variant(
          rounds,
          contestant.name(),
          contestant,
          () -> measure(contestant, contestant.name(), List.of("")));
    }
    Contestant ours = Contestant.POSTRIDER;
    stage.variant(rounds, TWO, ours, () -> measure(ours, TWO, List.of("", "second")));
    rounds.run(1);
    Rounds.Result result = rounds.run(Math.max(2, stage.options().drainRounds()));
    report(result);
    return result;
  }

  private double measure(Contestant contestant, String variant, List<String> parts)
      throws Exception {
    int backlog = contestant.backlog(stage.options().messages());
    List<PeerProcess> processes = new ArrayList<>();
    for (String part : parts) {
      processes.add(stage.processes().of(contestant, part));
    }
    PeerProcess first = processes.get(0);
    first.ask("install", "done");
    first.ask("load " + backlog, "done");
    stage.database().settle();
    double rate = drain(variant, backlog, processes);
    first.ask("install", "done");
    return rate;
  }

  private double drain(String variant, int backlog, List<PeerProcess> processes) throws Exception {
    String command = "drain " + backlog + (processes.size() > 1 ? " shared" : " all");
    for (PeerProcess process : processes) {
      process.ask(command, "ready");
    }
    Bill bill = new Bill(stage.database());
    bill.begin();
    processes.forEach(process -> process.say("go"));
    long from = Long.MAX_VALUE;
    long to = Long.MIN_VALUE;
    long cpu = 0;
    for (PeerProcess process : processes) {
      PeerProcess.Answer done = process.expect("done");
      from = Math.min(from, done.number("from"));
      to = Math.max(to, done.number("to"));
      cpu += done.number("cpu");
    }
    bill.stop(backlog);
    bill.settle(backlog, (double) cpu, closed(variant, backlog, processes));
    return backlog / ((to - from) / 1e9);
  }

  /** Counts what the processes got; returns their heap. */
  private double closed(String variant, int backlog, List<PeerProcess> processes)
      throws InterruptedException {
    List<PeerProcess.Answer> closed = new ArrayList<>();
    for (PeerProcess process : processes) {
      closed.add(process.expect("closed"));
    }
    stage.count(variant, Stage.Tally.of(backlog, closed));
    return (double) closed.stream().mapToLong(answer -> answer.number("heap")).sum();
  }

  private void report(Rounds.Result result) {
    Report report = stage.report();
    List<String> heading =
        new ArrayList<>(List.of("drain", "messages/s", "lowest", "highest", "backlog"));
    heading.addAll(List.of("lost", "duplicates"));
    heading.addAll(List.of(Stage.COSTS));
    report.heading(heading.toArray(String[]::new));
    List<Chart.Bar> bars = new ArrayList<>();
    for (Contestant contestant : CONTESTANTS) {
      row(contestant, contestant.name(), result, bars);
      if (contestant.kind() == Contestant.Kind.OURS) {
        row(contestant, TWO, result, bars);
      }
    }
    report.chart(new Chart("peers-drain", "Drain: messages per second", bars));
    List<Contestant> polling =
        Contestant.PEERS.stream().filter(c -> c.kind() == Contestant.Kind.POLLING).toList();
    report.ratio(
        "drain_vs_best_polling_peer", result.ratio("postrider", Stage.best(result, polling)));
    report.ratio("drain_vs_debezium", result.ratio("postrider", Contestant.DEBEZIUM.name()));
    report.ratio("peers_drain_vs_raw_delete", result.ratio("postrider", "raw delete"));
    report.ratio("two_relays_vs_one", result.ratio(TWO, "postrider"));
  }

  private void row(
      Contestant contestant, String variant, Rounds.Result result, List<Chart.Bar> bars) {
    Stage.Tally tally = stage.tally(variant);
    List<String> row = new ArrayList<>(List.of(variant));
    row.addAll(List.of(result.spread(variant)));
    row.add("%,d".formatted(contestant.backlog(stage.options().messages())));
    row.add(Long.toString(tally.lost()));
    row.add(Long.toString(tally.duplicates()));
    row.addAll(List.of(stage.costs("drain", variant, result)));
    stage.report().row(row.toArray(String[]::new));
    String key = "drain_" + Report.key(variant);
    stage.report().figure(key + "_per_second", result.median(variant));
    stage.report().figure(key + "_lost", (double) tally.lost());
    stage.report().figure(key + "_duplicates", (double) tally.duplicates());
    bars.add(new Chart.Bar(variant, result.median(variant), contestant.kind().colour()));
  }
}
