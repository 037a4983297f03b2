package dev.postrider.bench;

import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The benchmark's main: picks scenarios by name and prints what they found. */
public final class Bench {
  private static final List<Scenario> SCENARIOS =
      List.of(
          new EnqueueScenario(),
          new DrainScenario(),
          new OrderedScenario(),
          new LatencyScenario(),
          new RetentionScenario(),
          new HeldSnapshotScenario(),
          new GrowthScenario(),
          new BlockedScenario(),
          new StuckKeysScenario(),
          new TopicsScenario(),
          new BusyKeyScenario(),
          new BusyTopicScenario(),
          new OneTransactionScenario(),
          new FanOutScenario(),
          new RabbitScenario(),
          new KafkaScenario(),
          new WebhookScenario(),
          new StreamScenario(),
          new PeersScenario(
              "peers",
              "other outboxes: enqueue, drain, latency (the next three in one)",
              EnumSet.allOf(PeersScenario.Part.class)),
          new PeersScenario(
              "peers-enqueue",
              "producers of other outboxes, and limits",
              EnumSet.of(PeersScenario.Part.ENQUEUE)),
          new PeersScenario(
              "peers-drain",
              "a backlog to a no-op handler, other outboxes and limits",
              EnumSet.of(PeersScenario.Part.DRAIN)),
          new PeersScenario(
              "peers-latency",
              "200 messages/s, other outboxes and a bare NOTIFY",
              EnumSet.of(PeersScenario.Part.LATENCY)));

  private Bench() {}

  public static void main(String[] arguments) throws Exception {
    Options options;
    try {
      options = Options.parse(List.of(arguments));
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage() + "; see --help");
      System.exit(2);
      return;
    }
    if (options.help() || options.scenarios().isEmpty()) {
      System.out.print(help());
      return;
    }
    List<Scenario> chosen = chosen(options.scenarios());
    ResultPage page = new ResultPage(Path.of(System.getProperty("bench.docs", "docs")));
    if (options.writes()) {
      page.require(chosen.stream().map(Scenario::name).toList());
    }
    Report total = new Report("all");
    List<Report> reports = new ArrayList<>();
    try (BenchServer server = BenchServer.start(Map.of())) {
      for (Scenario scenario : chosen) {
        Report report = report(server, scenario, options);
        report.print(System.out);
        total.include(report);
        reports.add(report);
      }
    }
    if (chosen.size() > 1) {
      total.print(System.out);
    }
    if (options.writes()) {
      page.write(how(arguments), reports);
    }
  }

  private static Report report(BenchServer common, Scenario scenario, Options options)
      throws Exception {
    Report report = new Report(scenario.name());
    if (scenario.parameters().isEmpty()) {
      scenario.run(common.database(scenario.name()), options, report);
      return report;
    }
    try (BenchServer own = BenchServer.start(scenario.parameters())) {
      scenario.run(own.database(scenario.name()), options, report);
    }
    return report;
  }

  private static String how(String[] arguments) {
    return "`scripts/bench %s`%non %s. %d cores, %s, Java %s; PostgreSQL 18, 500-byte JSON."
        .formatted(
            String.join(" ", arguments),
            LocalDate.now(ZoneOffset.UTC),
            Runtime.getRuntime().availableProcessors(),
            System.getProperty("os.name") + " " + System.getProperty("os.arch"),
            Runtime.version().feature());
  }

  private static List<Scenario> chosen(List<String> names) {
    if (names.contains("all")) {
      return all();
    }
    List<Scenario> chosen = SCENARIOS.stream().filter(s -> names.contains(s.name())).toList();
    if (chosen.size() < names.size()) {
      System.err.println("no such scenario among " + names + "; there are:\n" + list());
      System.exit(2);
    }
    return chosen;
  }

  static List<Scenario> all() {
    return SCENARIOS.stream().filter(Scenario::inAll).toList();
  }

  private static String help() {
    return """
    usage: scripts/bench [options] all | <scenario>...

    Each scenario prints tables and then one line of JSON. Only ratios within a run mean much.
    "all" and "--write" also write the results to docs/benchmarks.md and docs/charts.

    scenarios:
    %s
    options:
    %s"""
        .formatted(list(), Options.DESCRIPTION);
  }

  private static String list() {
    return SCENARIOS.stream()
        .map(s -> "  %-15s %s%n".formatted(s.name(), s.summary()))
        .collect(Collectors.joining());
  }
}
