package dev.postrider.cli.output;

import java.time.Duration;
import java.util.Locale;

/**
 * A line that says how far, how fast and how long still; rewritten a few times a second, and only
 * on a terminal. Used by one thread.
 */
public final class Progress {
  private static final long EVERY_NANOS = 200_000_000;

  private final Screen screen;
  private final String noun;
  private final long total;
  private final long startedNanos = System.nanoTime();
  private long shownNanos = startedNanos - EVERY_NANOS;

  /**
   * Starts the clock.
   *
   * @param total 0 if it is not known
   */
  public Progress(Screen screen, String noun, long total) {
    this.screen = screen;
    this.noun = noun;
    this.total = total;
  }

  public void at(long count) {
    long now = System.nanoTime();
    if (now - shownNanos >= EVERY_NANOS) {
      shownNanos = now;
      screen.progress(text(count, Duration.ofNanos(now - startedNanos)));
    }
  }

  String text(long count, Duration elapsed) {
    double perSecond = count / Math.max(elapsed.toNanos() / 1e9, 0.001);
    String speed = String.format(Locale.ROOT, "%s, %,.0f/s", noun, perSecond);
    if (total <= 0 || count <= 0) {
      return Words.count(count) + " " + speed;
    }
    long left = Math.round(Math.max(total - count, 0) / perSecond);
    return "%3d%%  %s of %s %s, %s left"
        .formatted(
            Math.min(100, count * 100 / total),
            Words.count(count),
            Words.count(total),
            speed,
            Words.age(Duration.ofSeconds(left)));
  }

  /** Clears the line. */
  public void done() {
    screen.progress("");
  }
}
