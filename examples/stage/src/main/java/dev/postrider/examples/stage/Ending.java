package dev.postrider.examples.stage;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The end of an example: Ctrl-C asks for it, and the process then waits, for a bounded time, until
 * the example has finished what it began. Thread-safe.
 */
final class Ending {
  static final Duration PATIENCE = Duration.ofSeconds(60);

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);

  /**
   * Installed before anything is started, so that nothing is left behind however early it comes.
   */
  static Ending install() {
    Ending ending = new Ending();
    Runtime.getRuntime().addShutdownHook(new Thread(ending::ask, "example-stop"));
    return ending;
  }

  private void ask() {
    asked.countDown();
    try {
      finished.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits to be asked; false if that did not happen in time. */
  boolean isAsked(long nanos) throws InterruptedException {
    return asked.await(nanos, TimeUnit.NANOSECONDS);
  }

  void finished() {
    finished.countDown();
  }
}
