package dev.postrider.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Scenarios in miniature: each ends and finds its ratios, whatever they are. */
class ScenarioTest {
  private static final Options TINY =
      Options.parse(List.of("--messages", "200", "--rounds", "1", "--seconds", "0.1"));

  private static BenchServer server;

  @BeforeAll
  static void start() {
    server = BenchServer.start(Map.of());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  static List<Scenario> scenarios() {
    return List.of(
        new HeldSnapshotScenario(),
        new StuckKeysScenario(),
        new TopicsScenario(),
        new BusyKeyScenario(),
        new BusyTopicScenario(),
        new OneTransactionScenario());
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  void aSmallRunFindsEachRatio(Scenario scenario) throws Exception {
    Report report = new Report(scenario.name());

    scenario.run(server.database(scenario.name()), TINY, report);

    assertThat(report.goals())
        .hasSizeGreaterThan(1) // the heading
        .allSatisfy(row -> assertThat(row.get(1)).isNotEqualTo("failed"));
  }
}
