package dev.postrider.cli.config;

import dev.postrider.archive.ArchiveStorage;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.archive.s3.S3Config;
import dev.postrider.archive.s3.S3Storage;
import dev.postrider.cli.settings.Section;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Where old messages go, and when they are old. Immutable.
 *
 * @param configured whether somebody chose the storage; otherwise it is the default
 */
public record ArchiveSettings(
    ArchiveStorage.Opener storage, boolean configured, Duration retention) {
  /** The kinds of storage. */
  private enum Kind {
    DIRECTORY,
    S3
  }

  static ArchiveSettings read(Section root) {
    try (Section section = root.section("archive")) {
      Kind kind = section.choice("storage", Kind.DIRECTORY);
      Path directory = Path.of(section.text("directory", "archive"));
      S3Config s3 = S3Settings.read(section, kind == Kind.S3);
      ArchiveStorage.Opener storage =
          kind == Kind.S3 ? () -> new S3Storage(s3) : () -> new DirectoryStorage(directory);
      return new ArchiveSettings(
          storage,
          section.given("storage") || section.given("directory"),
          section.duration(
              "retention", Duration.ofDays(60), Duration.ofDays(2), Duration.ofDays(36_500)));
    }
  }
}
