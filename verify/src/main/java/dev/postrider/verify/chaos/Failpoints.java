package dev.postrider.verify.chaos;

import dev.postrider.verify.check.Report;
import java.util.List;
import java.util.function.Consumer;

/**
 * A relay that halts at one failpoint after the other while messages flow; each time a new process
 * goes on with what the last one left behind.
 */
public final class Failpoints {
  private static final long REACHED_WITHIN_SECONDS = 90;

  private Failpoints() {}

  /** The names of all points. */
  public static List<String> all() {
    return Failpoint.all();
  }

  /**
   * Runs these points and judges the journals.
   *
   * @throws IllegalStateException if a point is not reached
   */
  public static Report run(Settings settings, List<String> points, Consumer<String> log)
      throws Exception {
    try (Stage stage = Stage.open(settings, log)) {
      stage.producers().forEach(producer -> producer.start());
      stage.consumer().start();
      Child relay = stage.relays().get(0);
      for (String point : points) {
        log.accept(point);
        relay.start(Failpoint.option(point));
        int exit = relay.exitWithin(REACHED_WITHIN_SECONDS);
        if (exit != Failpoint.EXIT) {
          throw new IllegalStateException(
              "not reached within %d s (exit code %d): %s"
                  .formatted(REACHED_WITHIN_SECONDS, exit, point));
        }
      }
      relay.start();
      return stage.settle();
    }
  }
}
