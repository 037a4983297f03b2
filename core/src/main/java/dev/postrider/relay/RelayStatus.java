package dev.postrider.relay;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a relay is at this moment.
 *
 * @param running whether its threads run and no failure is known
 * @param listening whether the doorbell's connection is up; without it the relay polls
 * @param sinceLoop how long ago the lead loop came round; much more than the poll interval means it
 *     is stuck
 * @param failure what the database refuses and will go on refusing until somebody acts, such as a
 *     wrong password, a missing schema or a missing privilege, and what to do about it. The relay
 *     tries again every 5 to 10 seconds. Null if there is none.
 */
public record RelayStatus(
    String name,
    boolean running,
    boolean listening,
    Duration sinceLoop,
    Map<String, DestinationStatus> destinations,
    @Nullable String failure) {

  /**
   * How a destination is.
   *
   * @param breaker closed, open or half_open
   * @param openTargets targets of it that fail and are left alone for a while
   * @param inFlight messages claimed for it and not yet settled
   */
  public record DestinationStatus(String breaker, int openTargets, int inFlight) {}
}
