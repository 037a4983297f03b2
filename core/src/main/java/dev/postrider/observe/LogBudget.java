package dev.postrider.observe;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;

/**
 * Bounds a flood of log lines: so many of each kind per window, the rest counted and told
 * afterwards. Thread-safe.
 */
final class LogBudget {
  private static final long WINDOW_NANOS = 10_000_000_000L;

  private final int lines;
  private final LongSupplier nanoTime;
  private final Map<String, Window> windows = new ConcurrentHashMap<>();
  private volatile long nextReportNanos;

  private static final class Window {
    long endNanos;
    int used;
    long suppressed;
  }

  LogBudget(int lines, LongSupplier nanoTime) {
    this.lines = lines;
    this.nanoTime = nanoTime;
    this.nextReportNanos = nanoTime.getAsLong() + WINDOW_NANOS;
  }

  /** Whether a line of this kind may be written now; one that may not is counted. */
  boolean allows(String kind) {
    long now = nanoTime.getAsLong();
    Window window = windows.computeIfAbsent(kind, k -> new Window());
    synchronized (window) {
      if (window.used == 0 || now - window.endNanos >= 0) {
        window.endNanos = now + WINDOW_NANOS;
        window.used = 0;
      }
      boolean allowed = window.used++ < lines;
      window.suppressed += allowed ? 0 : 1;
      return allowed;
    }
  }

  /** Tells what was left out since the last report; at most once per window, else costs nothing. */
  void report(ObjLongConsumer<String> reporter) {
    long now = nanoTime.getAsLong();
    if (now - nextReportNanos < 0) {
      return;
    }
    nextReportNanos = now + WINDOW_NANOS;
    windows.forEach(
        (kind, window) -> {
          long suppressed;
          synchronized (window) {
            suppressed = window.suppressed;
            window.suppressed = 0;
          }
          if (suppressed > 0) {
            reporter.accept(kind, suppressed);
          }
        });
  }
}
