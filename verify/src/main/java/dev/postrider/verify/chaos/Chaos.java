package dev.postrider.verify.chaos;

import dev.postrider.verify.check.Report;
import dev.postrider.verify.journal.Journal;
import java.util.Random;
import java.util.function.Consumer;

/** Rounds of faults that hit everything a run consists of, while messages flow. */
public final class Chaos {
  private Chaos() {}

  /** Runs it and judges the journals. */
  public static Report run(Settings settings, Consumer<String> log) throws Exception {
    try (Stage stage = Stage.open(settings, log)) {
      stage.relays().forEach(relay -> relay.start());
      stage.producers().forEach(producer -> producer.start());
      stage.consumer().start();
      torment(stage, settings, log);
      return stage.settle();
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
