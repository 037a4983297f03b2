package dev.postrider.bench;

import java.util.List;
import java.util.stream.Collectors;

/** The benchmark's main: picks scenarios by name and prints what they found. */
public final class Bench {
  private static final List<Scenario> SCENARIOS =
      List.of(
          new EnqueueScenario(),
          new DrainScenario(),
          new OrderedScenario(),
          new LatencyScenario(),
          new HeldSnapshotScenario(),
          new GrowthScenario(),
          new BlockedScenario(),
          new RabbitScenario(),
          new KafkaScenario(),
          new WebhookScenario(),
          new StreamScenario());

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
    Report total = new Report("all");
    try (BenchServer server = BenchServer.start()) {
      for (Scenario scenario : chosen) {
        Report report = new Report(scenario.name());
        scenario.run(server.database(scenario.name()), options, report);
        report.print(System.out);
        total.include(report);
      }
    }
    if (chosen.size() > 1) {
      total.print(System.out);
    }
  }

  private static List<Scenario> chosen(List<String> names) {
    if (names.contains("all")) {
      return SCENARIOS;
    }
    List<Scenario> chosen = SCENARIOS.stream().filter(s -> names.contains(s.name())).toList();
    if (chosen.size() < names.size()) {
      System.err.println("no such scenario among " + names + "; there are:\n" + list());
      System.exit(2);
    }
    return chosen;
  }

  private static String help() {
    return """
    usage: scripts/bench [options] all | <scenario>...

    Each scenario prints a table and then one line of JSON. Only ratios within a run mean much.

    scenarios:
    %s
    options:
    %s"""
        .formatted(list(), Options.DESCRIPTION);
  }

  private static String list() {
    return SCENARIOS.stream()
        .map(s -> "  %-11s %s%n".formatted(s.name(), s.summary()))
        .collect(Collectors.joining());
  }
}
