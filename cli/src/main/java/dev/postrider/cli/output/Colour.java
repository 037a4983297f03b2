package dev.postrider.cli.output;

/** The few colours there are, each with one meaning. */
public enum Colour {
  /** Nothing to do. */
  GOOD("32"),
  /** For a warning. */
  NOTE("33"),
  /** Somebody should act. */
  BAD("31"),
  /** Beside the point. */
  FAINT("2"),
  /** A heading. */
  STRONG("1");

  private final String code;

  Colour(String code) {
    this.code = code;
  }

  String paint(String text) {
    return text.isEmpty() ? text : "\033[" + code + "m" + text + "\033[0m";
  }
}
