package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Section;
import dev.postrider.dispatch.Destination;

/** One kind of destination. Thread-safe. */
public interface DestinationType {
  /** What {@code type} says in the configuration. */
  String name();

  /**
   * Reads the settings of this kind, beside those that all destinations have, and notes in the
   * section what is wrong with them. Connects to nothing: every command reads the configuration.
   */
  Opener read(Section section);

  /** Opens the destination that was configured. */
  @FunctionalInterface
  interface Opener {
    Destination open();
  }
}
