package dev.postrider.jackson;

import org.jspecify.annotations.Nullable;

/** The same words for both versions of Jackson. */
final class JacksonErrors {
  private JacksonErrors() {}

  /** A path looks like {@code com.shop.Order["lines"]->java.util.ArrayList[0]}; empty: none. */
  static IllegalArgumentException at(String path, String why, Exception cause) {
    return new IllegalArgumentException(path.isEmpty() ? why : why + " at " + path, cause);
  }

  /** Jackson reads the document {@code null} as null, which no handler expects. */
  static <T> T notNull(@Nullable T value) {
    if (value == null) {
      throw new IllegalArgumentException("the document is null");
    }
    return value;
  }
}
