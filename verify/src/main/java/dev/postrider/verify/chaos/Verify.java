package dev.postrider.verify.chaos;

import dev.postrider.verify.check.Report;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;

/** The program behind {@code scripts/verify}. Exits with 1 if a promise was not kept. */
public final class Verify {
  private long seed = System.currentTimeMillis() % 1_000_000;
  private int minutes = 2;
  private int rate = 300;
  private boolean failpoints;

  private Verify() {}

  public static void main(String[] arguments) throws Exception {
    System.exit(new Verify().run(arguments));
  }

  private int run(String[] arguments) throws Exception {
    try {
      read(arguments);
    } catch (RuntimeException e) {
      System.err.println("scripts/verify: " + e.getMessage());
      System.err.println(
          "Usage: scripts/verify [--seed N] [--minutes M] [--rate MESSAGES] [--full]"
              + " [--failpoints]");
      return 2;
    }
    Path directory = Files.createTempDirectory("postrider-verify");
    String replay =
        "scripts/verify --seed %d --minutes %d --rate %d".formatted(seed, minutes, rate)
            + (failpoints ? " --failpoints" : "");
    say(replay + ", journals in " + directory);
    Settings settings = Settings.of(seed, Duration.ofMinutes(minutes), rate, directory);
    Report report =
        Chaos.run(failpoints ? settings.withFailpoints(Chaos.failpoints()) : settings, Verify::say);
    System.out.println(report);
    if (report.violations().isEmpty()) {
      System.out.println("Every promise was kept.");
      return 0;
    }
    System.out.println(
        "Broken: " + report.violations().size() + ". The same traffic and faults again: " + replay);
    return 1;
  }

  private void read(String[] arguments) {
    for (int i = 0; i < arguments.length; i++) {
      String name = arguments[i];
      if (name.equals("--full")) {
        minutes = 20;
        failpoints = true;
        continue;
      }
      if (name.equals("--failpoints")) {
        failpoints = true;
        continue;
      }
      if (i + 1 == arguments.length) {
        throw new IllegalArgumentException("expected a value after " + name);
      }
      long value = number(name, arguments[++i]);
      switch (name) {
        case "--seed" -> seed = value;
        case "--minutes" -> minutes = Math.toIntExact(value);
        case "--rate" -> rate = Math.toIntExact(value);
        default -> throw new IllegalArgumentException("unknown option " + name);
      }
    }
  }

  private static long number(String name, String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + ": expected a number, got " + text, e);
    }
  }

  private static void say(String text) {
    System.out.println(
        LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS) + " " + text);
  }
}
