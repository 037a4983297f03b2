package dev.postrider.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.verify.Monitoring.Entry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alert rules that ship, judged by Prometheus' own tool. */
@Tag("OP-4")
class AlertRulesTest {
  private static List<String> names() throws Exception {
    return Monitoring.rules().stream().map(rule -> rule.text("alert")).toList();
  }

  @Test
  @Tag("PO-12")
  @Tag("CH-9")
  void theyFireWhenTheyShouldAndOnlyThen() throws Exception {
    assertThat(Monitoring.promtool(Monitoring.DIRECTORY, "test", "rules", "alerts-test.yaml"))
        .contains("SUCCESS");
  }

  @Test
  @Tag("PO-12")
  @Tag("CH-9")
  void eachIsTestedWithSeriesThatFireItAndSeriesThatDoNot() throws Exception {
    Map<String, List<Boolean>> fires =
        Monitoring.read("alerts-test.yaml").list("tests").stream()
            .flatMap(test -> test.list("alert_rule_test").stream())
            .collect(
                Collectors.groupingBy(
                    test -> test.text("alertname"),
                    Collectors.mapping(
                        test -> !test.list("exp_alerts").isEmpty(), Collectors.toList())));
    assertThat(fires.keySet()).containsExactlyInAnyOrderElementsOf(names());
    assertThat(fires).allSatisfy((name, both) -> assertThat(both).contains(true, false));
  }

  @Test
  @Tag("PO-12")
  @Tag("CH-9")
  void whatIsRequiredIsThere() throws Exception {
    assertThat(names())
        .contains(
            "PostriderOldestPendingOverSla",
            "PostriderDeadGrowing",
            "PostriderStuckDispatching",
            "PostriderRetryRateSpike",
            "PostriderEventTypeFailing");
  }

  @Test
  void eachSaysWhereItIsExplainedAndIs() throws Exception {
    String page = Files.readString(Path.of("../docs/monitoring.md"));
    for (Entry rule : Monitoring.rules()) {
      String name = rule.text("alert");
      Entry annotations = rule.entry("annotations");
      assertThat(annotations.text("runbook"))
          .isEqualTo("docs/monitoring.md#" + name.toLowerCase(Locale.ROOT));
      String severity = rule.entry("labels").text("severity");
      assertThat(page.toLowerCase(Locale.ROOT))
          .contains("### %s\n\n%s.".formatted(name, severity).toLowerCase(Locale.ROOT));
    }
  }

  /** Grafana would show an empty panel; the tool says what is wrong. */
  @Test
  void whatTheDashboardAsksForCanBeAsked(@TempDir Path directory) throws Exception {
    StringBuilder rules = new StringBuilder("groups: [{name: dashboard, rules: [");
    int number = 0;
    for (String query : Monitoring.queries()) {
      rules.append("{record: q%d, expr: '%s'},\n".formatted(number++, query.replace("'", "''")));
    }
    Files.writeString(directory.resolve("rules.yaml"), rules.append("]}]"));
    assertThat(Monitoring.promtool(directory, "check", "rules", "rules.yaml"))
        .contains("SUCCESS: " + number + " rules found");
  }

  @Test
  void theDashboardHasItsParts() throws Exception {
    assertThat(Monitoring.panels())
        .filteredOn(panel -> panel.text("type").equals("row"))
        .extracting(panel -> panel.text("title"))
        .containsExactly(
            "Overview", "Backlog", "Latency", "Outcomes", "Breaker", "Dead", "Retention");
  }

  @Test
  void aMissingToolIsNamedWithTheCommandThatInstallsIt() {
    assertThatThrownBy(() -> Monitoring.promtool("no-such-promtool", Path.of("."), "check"))
        .hasMessageContaining("apt-get install prometheus");
  }
}
