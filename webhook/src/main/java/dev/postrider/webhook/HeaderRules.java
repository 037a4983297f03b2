package dev.postrider.webhook;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Which headers may travel, and how their values are written. Thread-safe. */
final class HeaderRules {
  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}");
  private static final Pattern VALUE =
      Pattern.compile("[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?");
  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  /** What frames the request, and what says how it is to be routed or kept open. */
  private static final Set<String> FRAMING =
      Set.of(
          "host",
          "content-length",
          "content-type",
          "content-encoding",
          "transfer-encoding",
          "connection",
          "keep-alive",
          "te",
          "trailer",
          "upgrade",
          "expect",
          "http2-settings");

  /** What proves somebody's identity is the operator's to set, never the producer's. */
  private static final Set<String> IDENTITY =
      Set.of("authorization", "cookie", "set-cookie", "user-agent");

  private HeaderRules() {}

  /** Whether a header of a message may become one of the request. */
  static boolean fromMessage(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return fromOperator(name) && !IDENTITY.contains(lower);
  }

  /** Whether the operator may set this header for every request. */
  static boolean fromOperator(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return TOKEN.matcher(name).matches()
        && !FRAMING.contains(lower)
        && !lower.startsWith("webhook-")
        && !lower.startsWith("proxy-");
  }

  /** Whether a value can stand in a header as it is. */
  static boolean isPlain(String value) {
    return VALUE.matcher(value).matches();
  }

  /**
   * A value that any header can carry: what is not printable ASCII, the percent sign and a blank at
   * either end become %XX of their UTF-8 bytes. So no value can start another header.
   */
  static String encode(String value) {
    return percent(value, " \"");
  }

  /** As the HTTP binding of CloudEvents wants it: blanks and quotes are encoded as well. */
  static String encodeCloudEvent(String value) {
    return percent(value, "");
  }

  private static String percent(String value, String kept) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    StringBuilder out = new StringBuilder(bytes.length);
    for (int i = 0; i < bytes.length; i++) {
      char c = (char) (bytes[i] & 0xff);
      boolean edge = c == ' ' && (i == 0 || i == bytes.length - 1);
      boolean plain = c > ' ' && c < 0x7f && c != '%' && c != '"';
      if (plain || (kept.indexOf(c) >= 0 && !edge)) {
        out.append(c);
      } else {
        out.append('%').append(HEX.toHexDigits(bytes[i]));
      }
    }
    return out.toString();
  }
}
