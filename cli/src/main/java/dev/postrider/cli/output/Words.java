package dev.postrider.cli.output;

import dev.postrider.message.Printable;
import dev.postrider.observe.Backlog;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Numbers, times and long texts as people like to read them. */
public final class Words {
  private Words() {}

  /** {@code 12,345}. */
  public static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** {@code ~12,345} if it is an estimate. */
  public static String count(long number, boolean estimated) {
    return (estimated ? "~" : "") + count(number);
  }

  /** {@code 1 message}, {@code 2 messages}. */
  public static String count(long number, String noun) {
    return count(number) + " " + noun + (number == 1 ? "" : "s");
  }

  /** {@code 2 blocked keys}; {@code 10,000+ blocked keys} if there are more than were counted. */
  public static String blockedKeys(Backlog backlog) {
    long number = backlog.blockedKeys();
    return backlog.blockedKeysAtLeast()
        ? count(number) + "+ blocked keys"
        : count(number, "blocked key");
  }

  /** The two largest units: {@code 3d 4h}, {@code 2m 5s}, {@code 40 ms}. */
  public static String age(Duration duration) {
    long seconds = Math.max(duration.toSeconds(), 0);
    if (seconds >= 86_400) {
      return seconds / 86_400 + "d " + seconds % 86_400 / 3600 + "h";
    } else if (seconds >= 3600) {
      return seconds / 3600 + "h " + seconds % 3600 / 60 + "m";
    } else if (seconds >= 60) {
      return seconds / 60 + "m " + seconds % 60 + "s";
    }
    return seconds > 0 || duration.isZero() ? seconds + "s" : "<1s";
  }

  /** To the second, in UTC; empty if there is none. */
  public static String time(@Nullable Instant at) {
    return at == null ? "" : at.truncatedTo(ChronoUnit.SECONDS).toString();
  }

  /** On one line and no longer than this. */
  public static String cut(String text, int most) {
    String line = Printable.line(text);
    return line.length() <= most ? line : line.substring(0, most - 1) + "…";
  }

  public static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
