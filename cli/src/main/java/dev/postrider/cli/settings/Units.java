package dev.postrider.cli.settings;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations and sizes as people write them. */
public final class Units {
  private static final Pattern NUMBER = Pattern.compile("(\\d{1,15}) ?([A-Za-z]*)");
  private static final Map<String, Duration> TIMES =
      Map.of(
          "ms", Duration.ofMillis(1),
          "s", Duration.ofSeconds(1),
          "m", Duration.ofMinutes(1),
          "min", Duration.ofMinutes(1),
          "h", Duration.ofHours(1),
          "d", Duration.ofDays(1));
  private static final Map<String, Long> SIZES =
      Map.of("", 1L, "b", 1L, "kib", 1L << 10, "mib", 1L << 20, "gib", 1L << 30);

  private Units() {}

  /**
   * Reads {@code 500ms}, {@code 5s}, {@code 2m}, {@code 1h}, {@code 7d} or ISO's {@code PT5S}.
   *
   * @throws IllegalArgumentException with what was expected
   */
  public static Duration duration(String text) {
    Matcher number = NUMBER.matcher(text.strip());
    if (number.matches()) {
      Duration unit = TIMES.get(number.group(2).toLowerCase(Locale.ROOT));
      if (unit != null) {
        return unit.multipliedBy(Long.parseLong(number.group(1)));
      }
    } else if (text.startsWith("P")) {
      try {
        return Duration.parse(text);
      } catch (DateTimeParseException e) {
        throw new IllegalArgumentException("expected a duration such as PT5S", e);
      }
    }
    throw new IllegalArgumentException("expected a duration such as 500ms, 5s, 2m, 1h or 7d");
  }

  /** The shortest way to write it. */
  public static String text(Duration duration) {
    if (duration.isZero()) {
      return "0s";
    }
    for (String unit : new String[] {"d", "h", "m", "s", "ms"}) {
      Duration one = TIMES.getOrDefault(unit, Duration.ofMillis(1));
      if (duration.toNanos() % one.toNanos() == 0) {
        return duration.dividedBy(one) + unit;
      }
    }
    return duration.toString();
  }

  /** Reads {@code 4096}, {@code 64KiB}, {@code 16MiB} or {@code 1GiB}. */
  static long size(String text) {
    Matcher number = NUMBER.matcher(text.strip());
    if (number.matches()) {
      Long unit = SIZES.get(number.group(2).toLowerCase(Locale.ROOT));
      if (unit != null) {
        return Math.multiplyExact(Long.parseLong(number.group(1)), unit);
      }
    }
    throw new IllegalArgumentException("expected a size such as 4096, 64KiB or 16MiB");
  }
}
