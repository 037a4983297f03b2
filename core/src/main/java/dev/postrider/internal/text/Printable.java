package dev.postrider.internal.text;

import org.jspecify.annotations.Nullable;

/**
 * Text from outside, made safe to show: it sends no codes to a terminal, forges no line of a log
 * and does not turn the reading direction. Thread-safe.
 */
public final class Printable {
  private static final int ZERO_WIDTH_NON_JOINER = 0x200c;
  private static final int ZERO_WIDTH_JOINER = 0x200d;

  private Printable() {}

  /** On one line: a line break or a tab becomes a blank, what is unsafe its escape. */
  public static String line(String text) {
    return escaped(text, " ");
  }

  /** Line breaks and tabs stay; a carriage return alone would write over the line. */
  public static String lines(String text) {
    return escaped(text.replace("\r\n", "\n"), null);
  }

  /**
   * The same JSON: what is unsafe can stand in its strings only, where an escape means the same.
   */
  public static String json(String json) {
    return escaped(json, null);
  }

  /** Whether it is a control character of C0 or C1, or an invisible mark. */
  public static boolean unsafe(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          true;
      case Character.FORMAT ->
          // Several scripts and many emoji need these two.
          codePoint != ZERO_WIDTH_NON_JOINER && codePoint != ZERO_WIDTH_JOINER;
      default -> false;
    };
  }

  /** As in JSON and Java: a backslash, a u and four digits, twice for a pair of surrogates. */
  public static void escape(StringBuilder out, int codePoint) {
    for (char c : Character.toChars(codePoint)) {
      out.append(String.format("\\u%04x", (int) c));
    }
  }

  private static String escaped(String text, @Nullable String blank) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              if (c == '\n' || c == '\t' || (c == '\r' && blank != null)) {
                out.append(blank == null ? Character.toString(c) : blank);
              } else if (unsafe(c)) {
                escape(out, c);
              } else {
                out.appendCodePoint(c);
              }
            });
    return out.toString();
  }
}
