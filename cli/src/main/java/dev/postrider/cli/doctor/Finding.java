package dev.postrider.cli.doctor;

/**
 * What a check found. Immutable.
 *
 * @param advice what to do about it, empty if nothing
 */
public record Finding(Level level, String check, String text, String advice) {
  /** How bad it is. */
  public enum Level {
    OK,
    /** Worth knowing. */
    NOTE,
    /** Somebody should act. */
    TROUBLE
  }

  static Finding ok(String check, String text) {
    return new Finding(Level.OK, check, text, "");
  }

  static Finding note(String check, String text, String advice) {
    return new Finding(Level.NOTE, check, text, advice);
  }

  static Finding trouble(String check, String text, String advice) {
    return new Finding(Level.TROUBLE, check, text, advice);
  }
}
