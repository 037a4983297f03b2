package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Section;
import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.schema.Schema;
import javax.sql.DataSource;

/** One kind of destination. Thread-safe. */
public interface DestinationType {
  /** What {@code type} says in the configuration. */
  String name();

  /**
   * Reads the settings of this kind, beside those that all destinations have, and notes in the
   * section what is wrong with them. Connects to nothing and opens no file: every command reads the
   * configuration.
   *
   * @param options the settings that all destinations have
   */
  Opener read(Section section, DestinationOptions options);

  /** Opens the destination that was configured. */
  @FunctionalInterface
  interface Opener {
    /**
     * Called when a relay starts.
     *
     * @param dataSource the database that the messages come from
     */
    Destination open(DataSource dataSource, Schema schema);
  }
}
