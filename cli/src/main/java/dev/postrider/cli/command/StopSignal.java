package dev.postrider.cli.command;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Ctrl-C or SIGTERM as something to wait for: the command hears of it, finishes in order on its own
 * thread, and the process ends with the command's exit code. A second one is not waited for. If
 * finishing takes longer than the patience given, the process ends all the same. Thread-safe.
 */
public final class StopSignal {
  private static final AtomicReference<@Nullable StopSignal> INSTALLED = new AtomicReference<>();

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);
  private volatile int exitCode;

  private StopSignal() {}

  static StopSignal install(Duration patience) {
    StopSignal signal = new StopSignal();
    INSTALLED.set(signal);
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> signal.asked(patience), "postrider-stop"));
    return signal;
  }

  /** Ends the process, from the thread that ran the command. */
  public static void exit(int code) {
    @Nullable StopSignal signal = INSTALLED.get();
    if (signal != null) {
      signal.exitCode = code;
      signal.finished.countDown();
    }
    System.exit(code); // does not return when the process is ending already
  }

  /** Runs as the JVM's shutdown hook; halting replaces the exit code of the signal by ours. */
  private void asked(Duration patience) {
    asked.countDown();
    try {
      if (finished.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        Runtime.getRuntime().halt(exitCode);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  boolean isAsked() {
    return asked.getCount() == 0;
  }

  void await() throws InterruptedException {
    asked.await();
  }

  /** Waits this long at most; returns whether to stop. */
  boolean await(Duration time) throws InterruptedException {
    return asked.await(time.toMillis(), TimeUnit.MILLISECONDS);
  }
}
