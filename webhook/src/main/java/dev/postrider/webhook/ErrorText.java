package dev.postrider.webhook;

import java.nio.charset.StandardCharsets;
import java.util.Collection;

/**
 * Makes text from outside fit for an attempt's error: one line, no control characters, not long,
 * and without the secrets that a receiver may send back. Thread-safe.
 */
final class ErrorText {
  private static final int LENGTH_MAX = 500;

  /** Shorter values are no secrets, and would tear holes into every text. */
  private static final int SECRET_MIN = 6;

  private final Collection<String> secrets;

  ErrorText(Collection<String> secrets) {
    this.secrets = secrets.stream().filter(secret -> secret.length() >= SECRET_MIN).toList();
  }

  String of(byte[] body) {
    return of(new String(body, StandardCharsets.UTF_8));
  }

  String of(String text) {
    String shown = text;
    for (String secret : secrets) {
      shown = shown.replace(secret, "***");
    }
    shown = shown.replaceAll("[\\p{Cntrl}\\p{Cf}\\p{Co}\\p{Cn}\\s\\u2028\\u2029]+", " ").strip();
    return shown.length() <= LENGTH_MAX ? shown : cut(shown) + "...";
  }

  private static String cut(String text) {
    boolean half = Character.isHighSurrogate(text.charAt(LENGTH_MAX - 1));
    return text.substring(0, half ? LENGTH_MAX - 1 : LENGTH_MAX);
  }
}
