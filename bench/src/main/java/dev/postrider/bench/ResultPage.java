package dev.postrider.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The measured part of docs/benchmarks.md, between two markers, and the charts beside it. What
 * people wrote around the markers stays. Not thread-safe.
 */
final class ResultPage {
  static final String BEGIN = "<!-- measured: begin, written by scripts/bench all -->";
  static final String END = "<!-- measured: end -->";

  private final Path docs;

  ResultPage(Path docs) {
    this.docs = docs;
  }

  /** Replaces what the last run wrote. */
  void write(String how, Report total, List<Report> reports) throws IOException {
    StringBuilder text = new StringBuilder();
    text.append('\n').append(how).append("\n\n").append(table(total.goals()));
    for (Report report : reports) {
      text.append("\n### ").append(report.scenario()).append('\n');
      for (Chart chart : report.charts()) {
        text.append("\n![%s](charts/%s.svg)\n".formatted(chart.title(), chart.name()));
        draw(chart);
      }
      report.tables().forEach(rows -> text.append('\n').append(table(rows)));
    }
    replace(text.append('\n').toString());
  }

  private void draw(Chart chart) throws IOException {
    Path charts = Files.createDirectories(docs.resolve("charts"));
    Files.writeString(charts.resolve(chart.name() + ".svg"), chart.svg());
  }

  private void replace(String measured) throws IOException {
    Path page = docs.resolve("benchmarks.md");
    String text = Files.readString(page);
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IllegalStateException(
          "%s: expected the lines %s and %s around what a run replaces, found none; put them where"
                  .formatted(page, BEGIN, END)
              + " the results belong");
    }
    Files.writeString(
        page, text.substring(0, begin + BEGIN.length()) + measured + text.substring(end));
  }

  private static String table(List<List<String>> rows) {
    int columns = rows.stream().mapToInt(List::size).max().orElse(0);
    String rule = "|" + "---|".repeat(columns) + "\n";
    return line(rows.get(0), columns)
        + rule
        + rows.stream().skip(1).map(row -> line(row, columns)).collect(Collectors.joining());
  }

  private static String line(List<String> row, int columns) {
    return "| "
        + String.join(" | ", row).replace("MISSED", "**missed**")
        + " |".repeat(columns - row.size() + 1)
        + "\n";
  }
}
