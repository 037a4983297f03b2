package dev.postrider.rabbitmq;

import dev.postrider.message.PostriderException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Collects what is wrong with a configuration, to report it together. Used by one thread. */
final class Violations {
  /** The longest name that AMQP can carry. */
  static final int NAME_BYTES = 255;

  private final List<String> wrong = new ArrayList<>();

  Violations check(boolean ok, String expected, Object given) {
    if (!ok) {
      wrong.add("expected " + expected + ", got " + given);
    }
    return this;
  }

  Violations range(String name, Duration value, Duration least, Duration most) {
    return check(
        value.compareTo(least) >= 0 && value.compareTo(most) <= 0,
        name + " of " + least.toMillis() + ".." + most.toMillis() + " ms",
        value.toMillis() + " ms");
  }

  Violations name(String what, String value) {
    return check(
        !value.isBlank() && fits(value), what + " of 1.." + NAME_BYTES + " bytes", quoted(value));
  }

  static boolean fits(String name) {
    return name.length() * 3 <= NAME_BYTES
        || name.getBytes(StandardCharsets.UTF_8).length <= NAME_BYTES;
  }

  static String quoted(String value) {
    return "\"" + (value.length() > 40 ? value.substring(0, 40) + "…" : value) + "\"";
  }

  void report(String what) {
    if (!wrong.isEmpty()) {
      throw new PostriderException(what + ": " + String.join("; ", wrong));
    }
  }
}
