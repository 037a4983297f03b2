package dev.postrider.cli.output;

import dev.postrider.internal.text.Printable;
import dev.postrider.observe.Backlog;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
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

  /** On one line and no wider than this. */
  public static String cut(String text, int most) {
    String line = Printable.line(text);
    if (width(line) <= most) {
      return line;
    }
    int end = 0;
    int width = 1; // the ellipsis
    while (width + width(line.codePointAt(end)) <= most) {
      width += width(line.codePointAt(end));
      end = line.offsetByCodePoints(end, 1);
    }
    return line.substring(0, end) + "…";
  }

  /** In lines of this width, broken between words; a longer word has a line of its own. */
  public static List<String> wrap(String text, int width) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : Printable.line(text).split(" ", -1)) {
      if (!line.isEmpty() && width(line.toString()) + 1 + width(word) > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }

  /** The columns that a text takes on a terminal. */
  public static int width(String text) {
    return text.codePoints().map(Words::width).sum();
  }

  /** East Asian characters and emoji take two columns, marks above others none. */
  private static int width(int character) {
    if (Character.getType(character) == Character.NON_SPACING_MARK) {
      return 0;
    }
    boolean wide =
        character >= 0x1100
            && (character <= 0x115f
                || (character >= 0x2e80 && character <= 0xa4cf)
                || (character >= 0xac00 && character <= 0xd7a3)
                || (character >= 0xf900 && character <= 0xfaff)
                || (character >= 0xfe30 && character <= 0xfe6f)
                || (character >= 0xff00 && character <= 0xff60)
                || (character >= 0xffe0 && character <= 0xffe6)
                || (character >= 0x1f300 && character <= 0x1faff)
                || (character >= 0x20000 && character <= 0x3fffd));
    return wide ? 2 : 1;
  }

  public static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
