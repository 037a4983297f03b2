package dev.postrider.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** What the command line asked for. Immutable. */
record Options(
    List<String> scenarios,
    boolean help,
    int rounds,
    double seconds,
    int messages,
    int producers,
    int workers,
    int clients,
    boolean write) {

  private static final int MESSAGES = 200_000;

  static final String DESCRIPTION =
      """
        --rounds N     rounds per variant, in turns; the median counts (default 8)
        --seconds S    length of a timed round (default 2)
        --messages N   backlog to drain (default 200000); fewer also make other sizes smaller
        --producers N  connections that enqueue at once (default 8)
        --workers N    claimers that drain at once (default 2)
        --clients N    stream clients (default 1000)
        --write        write the results of these scenarios to docs/benchmarks.md and docs/charts
        --help         this text
      """;

  Options {
    scenarios = List.copyOf(scenarios);
    check("--rounds", rounds, 1, 1000);
    check("--seconds", seconds, 0.1, 3600);
    check("--messages", messages, 1, 50_000_000);
    check("--producers", producers, 1, 100);
    check("--workers", workers, 1, 100);
    check("--clients", clients, 1, 10_000);
  }

  /** Whether the documentation is to get the results. */
  boolean writes() {
    return write || scenarios.contains("all");
  }

  Duration round() {
    return Duration.ofMillis(Math.round(seconds * 1000));
  }

  /** A drain loads its backlog anew each time: fewer rounds than for short ones. */
  int drainRounds() {
    return Math.max(1, rounds / 2);
  }

  /** A scenario's own size: in full with the default backlog, smaller in proportion with less. */
  int scaled(int full) {
    return (int) Math.max(1, Math.min(full, (long) full * messages / MESSAGES));
  }

  static Options parse(List<String> arguments) {
    List<String> scenarios = new ArrayList<>();
    boolean help = false;
    boolean write = false;
    int rounds = 8;
    double seconds = 2;
    int messages = MESSAGES;
    int producers = 8;
    int workers = 2;
    int clients = 1000;
    Iterator<String> rest = arguments.iterator();
    while (rest.hasNext()) {
      String argument = rest.next();
      switch (argument) {
        case "--help", "-h" -> help = true;
        case "--write" -> write = true;
        case "--rounds" -> rounds = (int) number(argument, rest);
        case "--seconds" -> seconds = number(argument, rest);
        case "--messages" -> messages = (int) number(argument, rest);
        case "--producers" -> producers = (int) number(argument, rest);
        case "--workers" -> workers = (int) number(argument, rest);
        case "--clients" -> clients = (int) number(argument, rest);
        default -> {
          if (argument.startsWith("-")) {
            throw new IllegalArgumentException("unknown option " + argument);
          }
          scenarios.add(argument);
        }
      }
    }
    return new Options(
        scenarios, help, rounds, seconds, messages, producers, workers, clients, write);
  }

  private static double number(String option, Iterator<String> rest) {
    String value = rest.hasNext() ? rest.next() : "nothing";
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(option + ": expected a number, got " + value, e);
    }
  }

  private static void check(String option, double value, double least, double most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: expected %s to %s, got %s".formatted(option, least, most, value));
    }
  }
}
