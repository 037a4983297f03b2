package dev.postrider.cli.command;

import dev.postrider.cli.settings.Units;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.UUID;

/** Reads the values of options that several commands have. */
final class Options {
  private Options() {}

  static Duration duration(PostriderCommand command, String option, String text) {
    try {
      return Units.duration(text);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw command.usage(option + ": " + e.getMessage() + ", got \"" + text + "\"");
    }
  }

  /** An instant, or a duration before now. */
  static Instant time(PostriderCommand command, String option, String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException notAnInstant) {
      try {
        return Instant.now().minus(Units.duration(text));
      } catch (IllegalArgumentException | ArithmeticException e) {
        throw command.usage(
            "%s: expected a time such as 2026-11-01T00:00:00Z, or how long ago, such as 2h, got \"%s\""
                .formatted(option, text));
      }
    }
  }

  static UUID id(PostriderCommand command, String text) {
    try {
      return UUID.fromString(text);
    } catch (IllegalArgumentException e) {
      throw command.usage("expected a message id, which is a UUID, got \"" + text + "\"");
    }
  }
}
