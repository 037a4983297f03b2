package dev.postrider.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The results in docs/benchmarks.md, a section between two markers for each scenario, and the
 * charts beside it. A run replaces the sections of its scenarios. What people wrote around the
 * markers stays. Not thread-safe.
 */
final class ResultPage {
  private final Path docs;

  ResultPage(Path docs) {
    this.docs = docs;
  }

  static String begin(String scenario) {
    return "<!-- %s: begin, written by scripts/bench -->".formatted(scenario);
  }

  static String end(String scenario) {
    return "<!-- %s: end -->".formatted(scenario);
  }

  /** Fails unless the page has a section for each of these scenarios. */
  void require(List<String> scenarios) throws IOException {
    String text = Files.readString(page());
    scenarios.forEach(scenario -> section(text, scenario));
  }

  /**
   * Replaces what earlier runs of these scenarios wrote.
   *
   * @param how the command, when and where it ran
   */
  void write(String how, List<Report> reports) throws IOException {
    String text = Files.readString(page());
    for (Report report : reports) {
      Section old = section(text, report.scenario());
      text = text.substring(0, old.from()) + written(how, report) + text.substring(old.to());
    }
    Files.writeString(page(), text);
  }

  private Path page() {
    return docs.resolve("benchmarks.md");
  }

  /** Where the text between the markers of a scenario begins and ends. */
  private record Section(int from, int to) {}

  private Section section(String text, String scenario) {
    int begin = text.indexOf(begin(scenario));
    int end = text.indexOf(end(scenario));
    if (begin < 0 || end < begin) {
      throw new IllegalStateException(
          "%s: expected the lines %s and %s around the results of %s, found none; put them where"
                  .formatted(page(), begin(scenario), end(scenario), scenario)
              + " the results belong");
    }
    return new Section(begin + begin(scenario).length(), end);
  }

  private String written(String how, Report report) throws IOException {
    StringBuilder text = new StringBuilder("\n### %s\n\n%s\n".formatted(report.scenario(), how));
    if (report.goals().size() > 1) {
      text.append('\n').append(table(report.goals()));
    }
    for (Chart chart : report.charts()) {
      text.append("\n![%s](charts/%s.svg)\n".formatted(chart.title(), chart.name()));
      draw(chart);
    }
    report.tables().forEach(rows -> text.append('\n').append(table(rows)));
    return text.append('\n').toString();
  }

  private void draw(Chart chart) throws IOException {
    Path charts = Files.createDirectories(docs.resolve("charts"));
    Files.writeString(charts.resolve(chart.name() + ".svg"), chart.svg());
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
