package dev.postrider.webhook;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a receiver knows of our secrets and may send back: headers, keys and the URL, each as a
 * whole and in its parts, such as the token behind {@code Bearer} or the password within {@code
 * Basic}. Thread-safe.
 */
final class Secrets {
  private static final String HIDDEN = "***";

  /** Shorter parts are no secrets, and would tear holes into every text. */
  private static final int PART_MIN = 4;

  /** What is less than that of a secret helps nobody, and may be a plain word. */
  private static final int BEGUN_MIN = 8;

  /** Parts of a path are mostly plain words. */
  private static final int PATH_PART_MIN = 8;

  private static final Pattern BETWEEN_TOKENS = Pattern.compile("[\\s;,&?\"']+");
  private static final Pattern BETWEEN_NAME_AND_VALUE = Pattern.compile("[=:]+");
  private static final Set<String> SCHEMES = Set.of("bearer", "basic", "digest", "token", "apikey");

  /** The character, which may stand behind a backslash, or its number in one of four ways. */
  private static final String FORMS = "(?:\\\\?%1$s|\\\\u%2$04x|%%%2$02x|&#0*%2$d;|&#x0*%2$x;)";

  private final Pattern pattern;

  private Secrets(Collection<String> parts) {
    // The longest first: a part must not leave the rest of the whole behind.
    String any =
        parts.stream()
            .sorted(Comparator.comparing(String::length).reversed())
            .map(Secrets::written)
            .collect(Collectors.joining("|"));
    this.pattern = Pattern.compile(any, Pattern.CASE_INSENSITIVE);
  }

  /**
   * The part as somebody may write it: in JSON, in a URL or in HTML. Letters and digits are the
   * same everywhere.
   */
  private static String written(String part) {
    StringBuilder forms = new StringBuilder();
    for (int i = 0; i < part.length(); i++) {
      char c = part.charAt(i);
      if (c < 0x80 && Character.isLetterOrDigit(c)) {
        forms.append(c);
      } else {
        forms.append(FORMS.formatted(Pattern.quote(String.valueOf(c)), (int) c));
      }
    }
    return forms.toString();
  }

  static Secrets of(Collection<String> values, URI endpoint) {
    Set<String> parts = new TreeSet<>();
    values.forEach(value -> add(parts, value, PART_MIN));
    String path = endpoint.getRawPath() == null ? "" : endpoint.getRawPath();
    for (String part : path.split("/", -1)) {
      add(parts, part, PATH_PART_MIN);
    }
    String query = endpoint.getRawQuery() == null ? "" : endpoint.getRawQuery();
    for (String parameter : query.split("&", -1)) {
      add(parts, parameter.substring(parameter.indexOf('=') + 1), PART_MIN);
    }
    return new Secrets(parts);
  }

  private static void add(Set<String> parts, String secret, int least) {
    for (String form : List.of(secret, unescaped(secret))) {
      keep(parts, form, least);
      for (String token : BETWEEN_TOKENS.split(form, -1)) {
        token(parts, token, least);
        for (String part : BETWEEN_NAME_AND_VALUE.split(token, -1)) {
          token(parts, part, least);
        }
      }
    }
  }

  private static void token(Set<String> parts, String token, int least) {
    String bare = token.substring(token.indexOf('_') + 1); // whsec_…
    String decoded = decoded(bare); // user and password of Basic, or the key itself
    keep(parts, token, least);
    keep(parts, bare, least);
    keep(parts, decoded, least);
    keep(parts, decoded.substring(decoded.indexOf(':') + 1), least);
    keep(parts, decoded.substring(0, Math.max(0, decoded.indexOf(':'))), least);
  }

  private static void keep(Set<String> parts, String part, int least) {
    if (part.length() >= least && !SCHEMES.contains(part.toLowerCase(Locale.ROOT))) {
      parts.add(part);
    }
  }

  private static String unescaped(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return text;
    }
  }

  /** What it is in base64; empty if it is none, or no text. */
  private static String decoded(String text) {
    try {
      byte[] bytes = Base64.getDecoder().decode(text);
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (IllegalArgumentException | CharacterCodingException e) {
      return "";
    }
  }

  String hide(String text) {
    return pattern.pattern().isEmpty()
        ? text
        : pattern.matcher(withoutBegun(text)).replaceAll(HIDDEN);
  }

  /** Answers are cut off somewhere: at the end there may be a secret without its end. */
  private String withoutBegun(String text) {
    Matcher matcher = pattern.matcher(text);
    for (int start = 0; start <= text.length() - BEGUN_MIN; start++) {
      boolean whole = matcher.region(start, text.length()).lookingAt();
      if (matcher.hitEnd() && !(whole && matcher.end() == text.length())) {
        return text.substring(0, start) + HIDDEN;
      }
    }
    return text;
  }
}
