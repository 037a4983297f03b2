package dev.postrider.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a scenario found: tables and charts for people, one JSON object for machines. Not
 * thread-safe.
 */
final class Report {
  private static final String COSTS = "CPU us server / client, WAL bytes, each";

  private final String scenario;
  private final List<List<List<String>>> tables = new ArrayList<>();
  private final List<Chart> charts = new ArrayList<>();
  private final Map<String, Double> figures = new LinkedHashMap<>();
  private final Map<String, Double> ratios = new LinkedHashMap<>();

  Report(String scenario) {
    this.scenario = scenario;
  }

  String scenario() {
    return scenario;
  }

  /** Begins a table. */
  void heading(String... cells) {
    tables.add(new ArrayList<>());
    row(cells);
  }

  void row(String... cells) {
    if (tables.isEmpty()) {
      tables.add(new ArrayList<>());
    }
    tables.get(tables.size() - 1).add(List.of(cells));
  }

  void chart(Chart chart) {
    charts.add(chart);
  }

  void figure(String name, double value) {
    figures.put(name, value);
  }

  void ratio(String name, double value) {
    Goal.of(name); // there is one, or nobody would know what to make of it
    ratios.put(name, value);
  }

  /** A row per variant: the median and how far its rounds were apart. */
  void rates(String unit, Rounds.Result result) {
    boolean metered = result.variants().stream().anyMatch(result::metered);
    heading("variant", unit + " (median)", "lowest", "highest", metered ? COSTS : "");
    for (String variant : result.variants()) {
      List<Double> sorted = result.of(variant).stream().sorted().toList();
      double median = result.median(variant);
      row(
          variant,
          number(median),
          number(sorted.get(0)),
          number(sorted.get(sorted.size() - 1)),
          result.metered(variant) ? cost(variant, result) : "");
      figure(key(variant) + "_per_second", median);
    }
  }

  private String cost(String variant, Rounds.Result result) {
    double server = result.medianCost(variant, Meter.Cost::serverMicros);
    double client = result.medianCost(variant, Meter.Cost::clientMicros);
    double wal = result.medianCost(variant, Meter.Cost::walBytes);
    String name = key(variant);
    figure(name + "_server_cpu_us", server);
    figure(name + "_client_cpu_us", client);
    figure(name + "_wal_bytes", wal);
    return String.format(Locale.ROOT, "%.1f / %.1f / %.0f", server, client, wal);
  }

  /** Takes over another report's ratios, and its figures under its name. */
  void include(Report other) {
    other.ratios.forEach(this::ratio);
    other.figures.forEach((name, value) -> figure(key(other.scenario) + "_" + name, value));
  }

  List<List<List<String>>> tables() {
    return tables;
  }

  List<Chart> charts() {
    return charts;
  }

  /** A row for each ratio with its goal, and a heading. */
  List<List<String>> goals() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("ratio", "measured", "goal", ""));
    ratios.forEach(
        (name, value) -> {
          Goal goal = Goal.of(name);
          String met = goal.metBy(value) ? "met" : "MISSED";
          rows.add(List.of(name, number(value), goal.toString(), met));
        });
    return rows;
  }

  void print(PrintStream out) {
    out.println();
    out.println("== " + scenario);
    tables.forEach(table -> print(out, table));
    print(out, goals());
    out.println(json());
  }

  private static void print(PrintStream out, List<List<String>> table) {
    int columns = table.stream().mapToInt(List::size).max().orElse(0);
    int[] widths = new int[columns];
    table.forEach(row -> widen(widths, row));
    table.forEach(row -> out.println(line(widths, row)));
  }

  private static void widen(int[] widths, List<String> row) {
    for (int i = 0; i < row.size(); i++) {
      widths[i] = Math.max(Math.max(widths[i], row.get(i).length()), 1);
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
        .map(
            e -> "\"" + e.getKey() + "\":" + (e.getValue().isNaN() ? "null" : number(e.getValue())))
        .collect(Collectors.joining(",", "{", "}"));
  }

  static String key(String name) {
    return name.replaceAll("\\W+", "_");
  }

  static String number(double value) {
    return Double.isNaN(value)
        ? "failed"
        : String.format(Locale.ROOT, Math.abs(value) < 100 ? "%.3f" : "%.0f", value);
  }
}
