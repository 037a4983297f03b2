package dev.postrider.webhook;

import dev.postrider.internal.text.Printable;
import java.nio.charset.StandardCharsets;

/**
 * Makes text from outside fit for an attempt's error: one line, safe to show, not long, and without
 * the secrets that a receiver may send back. Thread-safe.
 */
final class ErrorText {
  private static final int LENGTH_MAX = 500;

  private final Secrets secrets;

  ErrorText(Secrets secrets) {
    this.secrets = secrets;
  }

  String of(byte[] body) {
    return of(new String(body, StandardCharsets.UTF_8));
  }

  String of(String text) {
    String shown = secrets.hide(Printable.line(secrets.hide(text)));
    shown = shown.replaceAll("\\s+", " ").strip();
    return shown.length() <= LENGTH_MAX ? shown : cut(shown) + "...";
  }

  private static String cut(String text) {
    boolean half = Character.isHighSurrogate(text.charAt(LENGTH_MAX - 1));
    return text.substring(0, half ? LENGTH_MAX - 1 : LENGTH_MAX);
  }
}
