package dev.postrider.cli.config;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.cli.settings.Section;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import java.time.Duration;
import java.util.Optional;

/** Reads {@code postrider.retention}. */
final class RetentionSettings {
  private RetentionSettings() {}

  static RetentionConfig read(Section root, ArchiveSettings archive) {
    RetentionConfig usual = RetentionConfig.defaults();
    Duration second = Duration.ofSeconds(1);
    try (Section section = root.section("retention")) {
      boolean enabled = section.flag("enabled", true);
      RetentionConfig config =
          usual.withInterval(
              section.duration("interval", usual.interval(), second, Duration.ofDays(1)));
      for (RetentionTask task : RetentionTask.values()) {
        Optional<Duration> period =
            section.durationOrNever(
                task.label().replace('_', '-'),
                task.defaultPeriod(),
                second,
                Duration.ofDays(36_500));
        config = period.isPresent() ? config.withPeriod(task, period.get()) : config.never(task);
      }
      if (!enabled) {
        return RetentionConfig.off();
      }
      return archive.configured()
          ? config.withArchive(ArchiveConfig.of(archive.retention()), archive.storage())
          : config;
    }
  }
}
