package dev.postrider.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** What a scenario found: a table for people, one JSON object for machines. Not thread-safe. */
final class Report {
  private static final String COSTS = "CPU us server / client, WAL bytes, each";

  private final String scenario;
  private final List<List<String>> table = new ArrayList<>();
  private final Map<String, Double> figures = new LinkedHashMap<>();
  private final Map<String, Double> ratios = new LinkedHashMap<>();

  Report(String scenario) {
    this.scenario = scenario;
  }

  /** The first row is the heading. */
  void row(String... cells) {
    table.add(List.of(cells));
  }

  void figure(String name, double value) {
    figures.put(name, value);
  }

  void ratio(String name, double value) {
    ratios.put(name, value);
    Goal goal = Goal.of(name);
    row(name, number(value), goal.toString(), goal.metBy(value) ? "met" : "MISSED");
  }

  /** A row per variant: the median and how far its rounds were apart. */
  void rates(String unit, Rounds.Result result) {
    boolean metered = result.variants().stream().anyMatch(result::metered);
    row("variant", unit + " (median)", "lowest", "highest", metered ? COSTS : "");
    for (String variant : result.variants()) {
      List<Double> sorted = result.of(variant).stream().sorted().toList();
      double median = result.median(variant);
      row(
          variant,
          number(median),
          number(sorted.get(0)),
          number(sorted.get(sorted.size() - 1)),
          result.metered(variant) ? cost(variant, result) : "");
      figure(variant.replaceAll("\\W+", "_") + "_per_second", median);
    }
    row("ratio", "measured", "goal", "");
  }

  private String cost(String variant, Rounds.Result result) {
    double server = result.medianCost(variant, Meter.Cost::serverMicros);
    double client = result.medianCost(variant, Meter.Cost::clientMicros);
    double wal = result.medianCost(variant, Meter.Cost::walBytes);
    String name = variant.replaceAll("\\W+", "_");
    figure(name + "_server_cpu_us", server);
    figure(name + "_client_cpu_us", client);
    figure(name + "_wal_bytes", wal);
    return String.format(Locale.ROOT, "%.1f / %.1f / %.0f", server, client, wal);
  }

  /** Takes over another report's ratios, and its figures under its name. */
  void include(Report other) {
    if (table.isEmpty()) {
      row("ratio", "measured", "goal", "");
    }
    other.ratios.forEach(this::ratio);
    other.figures.forEach(
        (name, value) -> figure(other.scenario.replace('-', '_') + "_" + name, value));
  }

  void print(PrintStream out) {
    out.println();
    out.println("== " + scenario);
    int columns = table.stream().mapToInt(List::size).max().orElse(0);
    int[] widths = new int[columns];
    table.forEach(row -> widen(widths, row));
    table.forEach(row -> out.println(line(widths, row)));
    out.println(json());
  }

  private static void widen(int[] widths, List<String> row) {
    for (int i = 0; i < row.size(); i++) {
      widths[i] = Math.max(widths[i], row.get(i).length());
    }
  }

  private static String line(int[] widths, List<String> row) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < row.size(); i++) {
      String format = i == 0 ? "%-" + widths[i] + "s" : "  %" + widths[i] + "s";
      line.append(format.formatted(row.get(i)));
    }
    return line.toString().stripTrailing();
  }

  private String json() {
    return "{\"scenario\":\"%s\",\"figures\":%s,\"ratios\":%s}"
        .formatted(scenario, json(figures), json(ratios));
  }

  private static String json(Map<String, Double> numbers) {
    return numbers.entrySet().stream()
        .map(e -> "\"" + e.getKey() + "\":" + number(e.getValue()))
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, Math.abs(value) < 100 ? "%.3f" : "%.0f", value);
  }
}
