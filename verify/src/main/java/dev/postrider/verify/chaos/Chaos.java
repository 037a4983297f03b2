package dev.postrider.verify.chaos;

import dev.postrider.verify.check.Report;
import dev.postrider.verify.journal.Journal;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/**
 * While messages flow, a relay halts at failpoints, and then rounds of faults hit everything that a
 * run consists of.
 */
public final class Chaos {
  private static final long FAILPOINT_SECONDS = 120;

  private Chaos() {}

  /** The names of all failpoints. */
  public static List<String> failpoints() {
    return Failpoint.all();
  }

  /** Runs it and judges the journals. */
  public static Report run(Settings settings, Consumer<String> log) throws Exception {
    try (Stage stage = Stage.open(settings, log)) {
      stage.producers().forEach(producer -> producer.start());
      stage.consumer().start();
      haltAt(settings.failpoints(), stage.relays().get(0), log);
      stage.relays().forEach(relay -> relay.start());
      torment(stage, settings, log);
      return stage.settle();
    }
  }

  /** A process halts at one point after the other; the next one finds what it left behind. */
  private static void haltAt(List<String> points, Child relay, Consumer<String> log)
      throws InterruptedException {
    for (String point : points) {
      log.accept("halting " + point);
      relay.start(Failpoint.option(point));
      int exit = relay.exitWithin(FAILPOINT_SECONDS);
      if (exit != Failpoint.EXIT) {
        throw new IllegalStateException(
            "not reached within %d s (exit code %d): %s".formatted(FAILPOINT_SECONDS, exit, point));
      }
    }
  }

  /** A round that has begun is finished. */
  private static void torment(Stage stage, Settings settings, Consumer<String> log)
      throws InterruptedException {
    Random random = new Random(settings.seed());
    long end = System.nanoTime() + settings.length().toNanos();
    try (Journal journal = Journal.open(settings.directory(), "faults");
        Faults faults = new Faults(stage, journal)) {
      int round = 0;
      do {
        round++;
        log.accept("round " + round + " of faults");
        for (Step step : Step.round(random)) {
          faults.run(step);
        }
      } while (System.nanoTime() < end);
      faults.untilOver();
    }
  }
}
