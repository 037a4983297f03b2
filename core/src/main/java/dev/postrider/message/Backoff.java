package dev.postrider.message;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Exponential backoff: {@code min(base * 2^attempts, max)}, spread by jitter, never below 1 s.
 * Attempts are those that have failed: the first pause is twice the base. Immutable.
 */
public record Backoff(Duration base, Duration max, double jitter) {
  /** For relays, base 5 s: 10 s, 20 s, 40 s … 15 min, ± 20 %. */
  public static final Backoff RELAY =
      new Backoff(Duration.ofSeconds(5), Duration.ofMinutes(15), 0.2);

  /** For workers that drive their own loop, base 60 s: 2 min, 4 min … 1 h, ± 30 %. */
  public static final Backoff WORKER =
      new Backoff(Duration.ofSeconds(60), Duration.ofSeconds(3600), 0.3);

  private static final long FLOOR_MS = 1000;

  public Backoff {
    List<String> wrong = new ArrayList<>();
    if (base.compareTo(Duration.ofMillis(1)) < 0) {
      wrong.add("base must be at least 1 ms, got " + base);
    }
    if (max.compareTo(base) < 0 || max.compareTo(Duration.ofDays(30)) > 0) {
      wrong.add("max must lie between base and 30 days, got " + max);
    }
    if (!(jitter >= 0 && jitter < 1)) {
      wrong.add("jitter must lie in [0, 1), got " + jitter);
    }
    if (!wrong.isEmpty()) {
      throw new PostriderException("backoff: " + String.join("; ", wrong));
    }
  }

  /** The delay after this many failed attempts, 1 for the first. */
  public Duration delay(int attempts) {
    return delay(attempts, ThreadLocalRandom.current().nextDouble());
  }

  /** The same with the chance given, from 0 (shortest) to 1 (longest). */
  public Duration delay(int attempts, double chance) {
    double doubled = base.toMillis() * Math.pow(2, Math.max(attempts, 0));
    double bounded = Math.min(doubled, (double) max.toMillis());
    double spread = bounded * (1 + jitter * (2 * chance - 1));
    return Duration.ofMillis(Math.max(FLOOR_MS, (long) spread));
  }
}
