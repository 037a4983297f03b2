package dev.postrider.cli.settings;

/** Where a value was found, in words that let people find it too. Immutable. */
public record Origin(String where) {
  /** Nobody gave it. */
  public static final Origin DEFAULT = new Origin("default");

  static Origin line(String file, int line) {
    return new Origin(file + ":" + line);
  }

  @Override
  public String toString() {
    return where;
  }
}
