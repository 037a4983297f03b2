package dev.postrider.verify.chaos;

import dev.postrider.verify.check.Bounds;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What to run. The seed decides the traffic and the faults, not how threads interleave.
 *
 * @param failpoints where a relay halts, one after the other, before the rounds of faults begin
 * @param length how long rounds of faults go on; at least one happens
 * @param rate messages a second, of all producers
 * @param patience how long everything may take to arrive after the last fault
 * @param directory where the journals are written
 */
public record Settings(
    long seed,
    List<String> failpoints,
    Duration length,
    int rate,
    Duration patience,
    Bounds bounds,
    Path directory) {

  /** Settings with the bounds that the figures are checked against. */
  public static Settings of(long seed, Duration length, int rate, Path directory) {
    Bounds bounds =
        new Bounds(
            RelayChild.LEASE.plusSeconds(2),
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            RelayChild.RETENTION);
    return new Settings(seed, List.of(), length, rate, Duration.ofMinutes(5), bounds, directory);
  }

  /** The same with these failpoints first. */
  public Settings withFailpoints(List<String> value) {
    return new Settings(seed, value, length, rate, patience, bounds, directory);
  }

  /** The same with another limit for the waits of healthy messages. */
  public Settings withLongestWait(Duration value) {
    Bounds loose = new Bounds(bounds.takeover(), bounds.resume(), value, bounds.retention());
    return new Settings(seed, failpoints, length, rate, patience, loose, directory);
  }
}
