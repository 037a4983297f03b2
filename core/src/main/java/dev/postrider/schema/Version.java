package dev.postrider.schema;

/** The version of Postrider. */
public final class Version {
  private static final String CURRENT = SchemaFiles.version();

  private Version() {}

  /** The version of this library, such as {@code 0.1.0}. */
  public static String current() {
    return CURRENT;
  }
}
