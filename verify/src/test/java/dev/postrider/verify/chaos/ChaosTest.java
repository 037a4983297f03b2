package dev.postrider.verify.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.verify.check.Report;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** A slice of {@code scripts/verify}: one round of faults. */
class ChaosTest {
  /** How long messages wait is a figure of scripts/verify: here everything must only arrive. */
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

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
