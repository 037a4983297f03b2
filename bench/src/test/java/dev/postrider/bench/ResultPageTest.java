package dev.postrider.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultPageTest {
  @TempDir Path docs;

  @Test
  void replacesTheSectionsOfItsScenariosAndNothingElse() throws Exception {
    Path page = docs.resolve("benchmarks.md");
    String other = ResultPage.begin("latency") + "\nkept\n" + ResultPage.end("latency");
    Files.writeString(
        page,
        "before\n"
            + ResultPage.begin("drain")
            + "\nold\n"
            + ResultPage.end("drain")
            + "\n"
            + other);

    new ResultPage(docs).write("how", List.of(report(0.4)));

    assertThat(Files.readString(page))
        .startsWith("before\n" + ResultPage.begin("drain") + "\n### drain\n\nhow\n\n| ratio ")
        .endsWith(ResultPage.end("drain") + "\n" + other)
        .doesNotContain("old")
        .contains("| drain_vs_raw_delete | 0.400 | >= 0.5 | **missed** |")
        .contains("![Bars](charts/bars.svg)");
    assertThat(docs.resolve("charts/bars.svg"))
        .content()
        .contains("a &amp; b", "12,345", "failed", "prefers-color-scheme: dark");
  }

  @Test
  void saysWhatIsMissing() throws Exception {
    Files.writeString(docs.resolve("benchmarks.md"), "nothing to replace");

    assertThatThrownBy(() -> new ResultPage(docs).require(List.of("drain")))
        .hasMessageContaining(ResultPage.begin("drain"));
  }

  /** Also for a whole run, which takes most of an hour. */
  @Test
  void thePageHasASectionForEachScenario() throws Exception {
    new ResultPage(Path.of("../docs")).require(Bench.all().stream().map(Scenario::name).toList());
  }

  private static Report report(double ratio) {
    Report report = new Report("drain");
    report.ratio("drain_vs_raw_delete", ratio);
    report.chart(
        new Chart(
            "bars",
            "Bars",
            List.of(
                new Chart.Bar("a & b", 12_345, Chart.Kind.OURS),
                new Chart.Bar("c", Double.NaN, Chart.Kind.PEER))));
    return report;
  }
}
