package dev.postrider.internal.protocol;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The version of Postrider. */
public final class Version {
  private static final String CURRENT = read();

  private Version() {}

  /** The version of this library, such as {@code 0.1.0}. */
  public static String current() {
    return CURRENT;
  }

  private static String read() {
    try (InputStream in =
        Objects.requireNonNull(
            Version.class.getResourceAsStream("/dev/postrider/schema/version.txt"))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
