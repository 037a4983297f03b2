package dev.postrider.relay;

import java.time.Duration;
import java.util.Map;

/**
 * How a relay is at this moment.
 *
 * @param listening whether the doorbell's connection is up; without it the relay polls
 * @param sinceLoop how long ago the lead loop came round; much more than the poll interval means it
 *     is stuck
 */
public record RelayStatus(
    String name,
    boolean running,
    boolean listening,
    Duration sinceLoop,
    Map<String, DestinationStatus> destinations) {

  /**
   * How a destination is.
   *
   * @param breaker closed, open or half_open
   * @param openTargets targets of it that fail and are left alone for a while
   * @param inFlight messages claimed for it and not yet settled
   */
  public record DestinationStatus(String breaker, int openTargets, int inFlight) {}
}
