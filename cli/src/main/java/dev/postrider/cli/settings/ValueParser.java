package dev.postrider.cli.settings;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** Turns text into values; an IllegalArgumentException says what was expected. */
final class ValueParser {
  static final String NEVER = "never";

  private ValueParser() {}

  static <T> T parse(String text, String expected, Function<String, T> how) {
    try {
      return how.apply(text.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("expected " + expected, e);
    }
  }

  static int integer(String text, int min, int max) {
    String expected = "a whole number from " + min + " to " + max;
    return within(parse(text, expected, Integer::valueOf), min, max, "a whole number from");
  }

  static <N extends Number> N within(N value, long min, long max, String expected) {
    if (value.longValue() < min || value.longValue() > max) {
      throw new IllegalArgumentException("expected " + expected + " " + min + " to " + max);
    }
    return value;
  }

  static Duration between(Duration value, Duration min, Duration max) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          "expected a duration from " + Units.text(min) + " to " + Units.text(max));
    }
    return value;
  }

  static Optional<Duration> orNever(String text, Duration min, Duration max) {
    if (text.strip().equals(NEVER)) {
      return Optional.empty();
    }
    try {
      return Optional.of(between(Units.duration(text), min, max));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(e.getMessage() + " or never", e);
    }
  }

  static Boolean truth(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("expected true or false");
    };
  }

  static <E extends Enum<E>> E constant(String text, Class<E> type) {
    List<String> names = new ArrayList<>();
    for (E constant : type.getEnumConstants()) {
      names.add(name(constant));
      if (name(constant).equals(text.toLowerCase(Locale.ROOT))) {
        return constant;
      }
    }
    throw new IllegalArgumentException("expected " + String.join(" or ", names));
  }

  static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
