package dev.postrider.verify.chaos;

import dev.postrider.verify.check.Bounds;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What to run. The seed decides the traffic and the faults, not how threads interleave.
 *
 * @param length how long to go on; at least one round of faults happens
 * @param rate messages a second, of all producers
 * @param patience how long everything may take to arrive after the last fault
 * @param directory where the journals are written
 */
public record Settings(
    long seed, Duration length, int rate, Duration patience, Bounds bounds, Path directory) {

  /** Settings with the bounds that the figures are checked against. */
  public static Settings of(long seed, Duration length, int rate, Path directory) {
    Bounds bounds =
        new Bounds(
            RelayChild.LEASE.plusSeconds(2),
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            RelayChild.RETENTION);
    return new Settings(seed, length, rate, Duration.ofMinutes(5), bounds, directory);
  }

  /** The same with another limit for the waits of healthy messages. */
  public Settings withLongestWait(Duration value) {
    Bounds loose = new Bounds(bounds.takeover(), bounds.resume(), value, bounds.retention());
    return new Settings(seed, length, rate, patience, loose, directory);
  }
}
