package dev.postrider.cli.output;

import java.io.Console;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the terminal. Immutable.
 *
 * @param asks whether somebody is there to answer a question
 * @param live whether a line may be written over
 * @param colour whether output may be coloured
 */
public record Terminal(boolean asks, boolean live, boolean colour) {
  /** Set by the script, which can tell the three streams apart; Java knows all or nothing. */
  private static final String PROPERTY = "postrider.terminal";

  private static final String ALL = "012";

  public static Terminal detect(Map<String, String> environment) {
    String streams = System.getProperty(PROPERTY, isConsole(System.console()) ? ALL : "");
    boolean plain =
        !environment.getOrDefault("NO_COLOR", "").isEmpty()
            || environment.getOrDefault("TERM", "").equals("dumb");
    boolean asks = streams.contains("0") && streams.contains("2");
    return new Terminal(asks, streams.contains("2"), streams.contains("1") && !plain);
  }

  /** From Java 22 on there always is one, and a method that says whether it is a terminal. */
  private static boolean isConsole(@Nullable Console console) {
    if (console == null) {
      return false;
    }
    try {
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (NoSuchMethodException older) {
      return true;
    } catch (ReflectiveOperationException e) {
      return false;
    }
  }
}
