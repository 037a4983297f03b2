package dev.postrider.verify.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.verify.check.Report;
import dev.postrider.verify.journal.FaultKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** A slice of {@code scripts/verify}: some failpoints and one round of faults. */
class ChaosTest {
  /** A figure is not a promise: a slow machine may take its time, but must not take for ever. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(90);

  /** Some; scripts/verify has all. */
  private static final List<String> FAILPOINTS =
      List.of(
          "before claim_from",
          "after claim_from",
          "before settle",
          "after settle",
          "before commit",
          "after commit",
          "after fan_out",
          "before answer of rabbit",
          "before answer of kafka",
          "after answer of handled");

  @Test
  @Tag("EN-7")
  @Tag("EN-8")
  @Tag("EN-16")
  @Tag("EN-19")
  @Tag("EN-23")
  @Tag("PO-1")
  @Tag("PO-6")
  @Tag("PO-13")
  @Tag("HE-8")
  @Tag("MC-2")
  void failpointsAndARoundOfFaultsBreakNoPromise(
      @TempDir(cleanup = CleanupMode.ON_SUCCESS) Path directory) throws Exception {
    Settings settings =
        Settings.of(Long.getLong("verify.seed", 1), Duration.ZERO, 150, directory)
            .withFailpoints(FAILPOINTS)
            .withLongestWait(LONGEST_WAIT);
    Report report = Chaos.run(settings, step -> {});
    assertThat(report.violations()).as(report + "\njournals in " + directory).isEmpty();
    assertThat(report.committed()).isGreaterThan(500);
    assertThat(report.faults()).containsKeys(FaultKind.values());
    assertThat(report.copies()).as("the faults hit something").isPositive();
  }
}
