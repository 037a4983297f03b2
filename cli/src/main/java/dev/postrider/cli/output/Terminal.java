package dev.postrider.cli.output;

import java.io.Console;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the terminal. Immutable.
 *
 * @param asks whether somebody is there to answer a question
 * @param live whether a line may be written over
 * @param colour whether output may be coloured
 * @param columns the width of a line of output; {@link #ENDLESS} if it goes elsewhere
 */
public record Terminal(boolean asks, boolean live, boolean colour, int columns) {
  /** No limit. */
  public static final int ENDLESS = Integer.MAX_VALUE;

  private static final int USUAL = 80;

  /** Set by the script, which can tell the three streams apart; Java knows all or nothing. */
  private static final String PROPERTY = "postrider.terminal";

  /** Set by the script too, which has the terminal at hand. */
  private static final String COLUMNS = "postrider.columns";

  private static final String ALL = "012";

  public static Terminal detect(Map<String, String> environment) {
    String streams = System.getProperty(PROPERTY, isConsole(System.console()) ? ALL : "");
    boolean plain =
        !environment.getOrDefault("NO_COLOR", "").isEmpty()
            || environment.getOrDefault("TERM", "").equals("dumb");
    boolean asks = streams.contains("0") && streams.contains("2");
    boolean out = streams.contains("1");
    return new Terminal(
        asks, streams.contains("2"), out && !plain, out ? columns(environment) : ENDLESS);
  }

  private static int columns(Map<String, String> environment) {
    String given = System.getProperty(COLUMNS, environment.getOrDefault("COLUMNS", ""));
    String found = given.matches("[1-9]\\d{0,3}") ? given : asked();
    return found.matches("[1-9]\\d{0,3}") ? Integer.parseInt(found) : USUAL;
  }

  /** What the terminal says, if it can be asked. */
  private static String asked() {
    try {
      Process size =
          new ProcessBuilder("stty", "size")
              .redirectInput(new File("/dev/tty"))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String answer = new String(size.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return answer.strip().replaceFirst("^\\d+ ", ""); // rows and columns
    } catch (IOException e) {
      return "";
    }
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
