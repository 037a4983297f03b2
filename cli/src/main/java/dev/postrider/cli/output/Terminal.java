package dev.postrider.cli.output;

import java.util.Map;

/**
 * What is known of the terminal. Immutable.
 *
 * @param asks whether somebody is there to answer a question
 * @param live whether a line may be written over
 * @param colour whether output may be coloured
 */
public record Terminal(boolean asks, boolean live, boolean colour) {
  /** Set by the script, which can tell the three streams apart; without it there is none. */
  private static final String PROPERTY = "postrider.terminal";

  public static Terminal detect(Map<String, String> environment) {
    String streams = System.getProperty(PROPERTY, "");
    boolean plain =
        !environment.getOrDefault("NO_COLOR", "").isEmpty()
            || environment.getOrDefault("TERM", "").equals("dumb");
    boolean asks = streams.contains("0") && streams.contains("2");
    return new Terminal(asks, streams.contains("2"), streams.contains("1") && !plain);
  }
}
