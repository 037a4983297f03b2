package dev.postrider.claim;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to claim.
 *
 * @param bytes cap on payload bytes; a first message is taken whatever its size
 * @param routes ids of the routes that may go now
 * @param after where to go on instead of searching from the front
 * @param reap whether to give back what other workers' lapsed leases hold first
 */
public record ClaimRequest(
    int worker,
    int limit,
    long bytes,
    Duration lease,
    List<Integer> routes,
    @Nullable ClaimCursor after,
    boolean reap) {
  public ClaimRequest {
    routes = List.copyOf(routes);
  }
}
