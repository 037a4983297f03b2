package dev.postrider.cli.command;

import java.util.logging.Level;
import java.util.logging.Logger;

/** Sets the log up before anything is logged. */
final class Logging {
  private static final String LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

  /** Kept in a field, since a logger without a reference loses its level. */
  private static final Logger DRIVER = Logger.getLogger("org.postgresql");

  private Logging() {}

  /**
   * Leaves out what relays log of messages that fail, for failures that are made up. Works only
   * before the first relay is built. Their own trouble, such as a lost database, is still logged.
   */
  static void withoutFailures(boolean verbose) {
    if (!verbose) {
      System.setProperty("org.slf4j.simpleLogger.log.dev.postrider.observe.LoggingListener", "off");
    }
  }

  static void prepare(boolean verbose) {
    if (verbose && System.getProperty(LEVEL) == null) {
      System.setProperty(LEVEL, "debug");
    }
    DRIVER.setLevel(verbose ? Level.INFO : Level.OFF); // what it says is in its exceptions too
  }
}
