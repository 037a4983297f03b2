package dev.postrider.cli.doctor;

import dev.postrider.archive.ArchiveStorage;
import dev.postrider.cli.config.ArchiveSettings;
import java.io.IOException;
import java.util.List;

/** Whether the archive's storage can be written. */
public final class ArchiveCheck {
  private ArchiveCheck() {}

  /** Nothing if no storage is configured. */
  public static List<Finding> look(ArchiveSettings settings) {
    if (!settings.configured()) {
      return List.of();
    }
    try (ArchiveStorage storage = settings.storage().open()) {
      storage.check();
      return List.of(Finding.ok("archive", storage.location() + " can be written"));
    } catch (IOException e) {
      return List.of(
          Finding.trouble(
              "archive",
              String.valueOf(e.getMessage()),
              "Delivered messages stay in the database until it works."));
    }
  }
}
