package dev.postrider.bench.peer;

import java.util.function.BooleanSupplier;

/**
 * A thread that takes a step again and again, and rests a millisecond after one that found nothing:
 * for libraries that want to be asked. Thread-safe.
 */
public final class Repeating implements AutoCloseable {
  private final BooleanSupplier step;
  private final Thread thread = new Thread(this::run, "repeating");
  private volatile boolean closed;

  /**
   * Takes no step yet.
   *
   * @param step returns whether there may be more to do at once
   */
  public Repeating(BooleanSupplier step) {
    this.step = step;
  }

  public void start() {
    thread.start();
  }

  private void run() {
    while (!closed) {
      if (!step.getAsBoolean()) {
        rest();
      }
    }
  }

  private void rest() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      closed = true;
    }
  }

  /** Waits for the step that is being taken, ten seconds at most. */
  @Override
  public void close() throws InterruptedException {
    closed = true;
    thread.join(10_000);
  }
}
