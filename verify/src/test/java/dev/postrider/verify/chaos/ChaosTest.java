package dev.postrider.verify.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.verify.check.Report;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** A slice of {@code scripts/verify}: one round of faults. */
@EnabledIfEnvironmentVariable(
    named = "POSTRIDER_CHAOS",
    matches = "1",
    disabledReason = "it needs minutes on a machine that is not overloaded: POSTRIDER_CHAOS=1")
class ChaosTest {
  /** How long messages wait is a figure of scripts/verify: here everything must only arrive. */
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  @Test
  void aRoundOfFaultsBreaksNoPromise(@TempDir(cleanup = CleanupMode.ON_SUCCESS) Path directory)
      throws Exception {
    Settings settings =
        Settings.of(Long.getLong("verify.seed", 1), Duration.ZERO, 150, directory)
            .withLongestWait(LONGEST_WAIT);
    Report report = Chaos.run(settings, step -> {});
    assertThat(report.violations()).as(report + "\njournals in " + directory).isEmpty();
    assertThat(report.committed()).as("messages flowed").isGreaterThan(100);
    assertThat(report.faults()).as("faults hit").hasSizeGreaterThan(4);
  }
}
