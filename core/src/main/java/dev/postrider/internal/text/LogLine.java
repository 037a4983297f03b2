package dev.postrider.internal.text;

import org.jspecify.annotations.Nullable;

/**
 * A log event as one line of {@code key=value}: {@code event=outbox_publish_failed
 * destination=rails error="connect\nrefused"}. Values with anything but plain characters are
 * quoted, line breaks and other control characters escaped, so that no text from outside can forge
 * a line. Not thread-safe.
 */
public final class LogLine {
  private static final int VALUE_MAX = 500;
  private final StringBuilder out;

  private LogLine(String event) {
    this.out = new StringBuilder(160).append("event=").append(event);
  }

  public static LogLine of(String event) {
    return new LogLine(event);
  }

  /** Adds a field; one without a value is left out, a long one is cut. */
  public LogLine put(String key, @Nullable Object value) {
    if (value != null) {
      out.append(' ').append(key).append('=');
      append(value.toString());
    }
    return this;
  }

  private void append(String value) {
    String text = value.length() <= VALUE_MAX ? value : value.substring(0, VALUE_MAX) + "...";
    if (!text.isEmpty() && text.chars().allMatch(LogLine::plain)) {
      out.append(text);
      return;
    }
    out.append('"');
    text.codePoints().forEach(this::escape);
    out.append('"');
  }

  private static boolean plain(int c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  }

  private void escape(int c) {
    switch (c) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      default -> {
        if (Printable.unsafe(c)) {
          Printable.escape(out, c);
        } else {
          out.appendCodePoint(c);
        }
      }
    }
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
