package dev.postrider.examples.stage;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;

/** What an example was started with, {@code --name value} each. Immutable. */
public final class Options {
  private final Map<String, String> values;

  private Options(Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  /**
   * Reads the arguments; {@code --url} and {@code --seconds} are known to every example.
   *
   * @param own the example's own options with their defaults
   * @throws WrongOptionException with what was expected and what was given
   */
  static Options parse(String[] arguments, Map<String, String> own) {
    Map<String, String> values = new LinkedHashMap<>(own);
    values.put("url", "");
    values.put("seconds", "10");
    TreeSet<String> known = new TreeSet<>(values.keySet());
    for (int i = 0; i < arguments.length; i += 2) {
      String name = arguments[i].startsWith("--") ? arguments[i].substring(2) : "";
      if (!known.contains(name)) {
        throw new WrongOptionException(
            "expected one of --" + String.join(", --", known) + ", got " + arguments[i]);
      }
      if (i + 1 == arguments.length) {
        throw new WrongOptionException("expected a value after --" + name + ", got nothing");
      }
      values.put(name, arguments[i + 1]);
    }
    Options options = new Options(values);
    options.number("seconds", 1, 86_400);
    return options;
  }

  public String text(String name) {
    String value = values.get(name);
    if (value == null) {
      throw new WrongOptionException("there is no option --" + name);
    }
    return value;
  }

  public int number(String name, int least, int most) {
    String value = text(name);
    if (!value.matches("\\d{1,9}")
        || Integer.parseInt(value) < least
        || Integer.parseInt(value) > most) {
      throw new WrongOptionException(
          "expected a number from %d to %d after --%s, got %s".formatted(least, most, name, value));
    }
    return Integer.parseInt(value);
  }
}
