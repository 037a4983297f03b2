package dev.postrider.internal.protocol;

import dev.postrider.message.Route;
import java.util.Optional;
import java.util.regex.Pattern;

/** What a subscription may be called, as the database checks it. Thread-safe. */
public final class SubscriptionName {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,99}");

  private SubscriptionName() {}

  /** Empty for the default subscription, which may be called by its name. */
  public static String of(String given) {
    return new Route("", "", given).subscription();
  }

  /** What is wrong with the name of a subscription; empty is that of the default one. */
  public static Optional<String> problem(String name) {
    return name.isEmpty() || NAME.matcher(name).matches()
        ? Optional.empty()
        : Optional.of(
            "expected 1 to 100 letters, digits, dots, dashes and underscores, first a letter or"
                + " digit, got \"%s\"".formatted(name));
  }
}
