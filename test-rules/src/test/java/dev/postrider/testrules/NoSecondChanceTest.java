package dev.postrider.testrules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary.Failure;

class NoSecondChanceTest {
  private static final Map<String, Integer> RUNS = new HashMap<>();

  /** Each fails in its first run only, except for the one that never does. */
  private static void race(String name) {
    if (RUNS.merge(name, 1, Integer::sum) == 1 && !name.equals("sound")) {
      throw new IllegalStateException("lost a message in " + name);
    }
  }

  static class Forgiven {
    @Test
    void race() {
      NoSecondChanceTest.race("forgiven");
    }
  }

  @NoSecondChance
  static class Unforgiven {
    @Test
    void race() {
      NoSecondChanceTest.race("unforgiven");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sound", "bad"})
    void each(String name) {
      NoSecondChanceTest.race(name);
    }
  }

  static class Derived extends Unforgiven {}

  private static List<String> failures(Class<?> tests) {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build(),
            listener);
    return listener.getSummary().getFailures().stream()
        .map(Failure::getException)
        .map(Throwable::getMessage)
        .toList();
  }

  @Test
  void aFailureStaysOneInTheNextRun() {
    for (Class<?> tests : List.of(Unforgiven.class, Derived.class)) {
      RUNS.clear();
      assertThat(failures(tests))
          .containsExactlyInAnyOrder("lost a message in unforgiven", "lost a message in bad");
      assertThat(failures(tests))
          .hasSize(2)
          .allMatch(message -> message.startsWith("failed before, and gets no second chance"))
          .anyMatch(message -> message.endsWith("lost a message in unforgiven"))
          .anyMatch(message -> message.endsWith("lost a message in bad"));
      assertThat(RUNS).containsEntry("sound", 2).containsEntry("bad", 1);
    }
  }

  @Test
  void otherTestsHaveOne() {
    assertThat(failures(Forgiven.class)).hasSize(1);
    assertThat(failures(Forgiven.class)).isEmpty();
  }
}
