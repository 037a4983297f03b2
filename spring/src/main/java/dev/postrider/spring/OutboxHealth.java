package dev.postrider.spring;

import dev.postrider.relay.RelayStatus;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Whether the relay carries messages. A destination that fails does not count: taking this
 * application out of service would not mend it. Immutable.
 *
 * @param up whether it does, or has nothing to carry
 */
record OutboxHealth(boolean up, Map<String, Object> details) {
  /** The lead loop comes round every poll interval, which is a minute at most. */
  private static final Duration STUCK = Duration.ofMinutes(2);

  /**
   * @param relays by the names of their beans; each stands by itself if there are several
   */
  static OutboxHealth of(Map<String, OutboxRelay> relays) {
    Map<String, Object> details = new TreeMap<>();
    boolean up = true;
    for (Map.Entry<String, OutboxRelay> relay : relays.entrySet()) {
      OutboxHealth health = of(relay.getValue());
      if (relays.size() == 1) {
        return health;
      }
      details.put(relay.getKey(), health.details());
      up &= health.up();
    }
    return new OutboxHealth(up, details);
  }

  private static OutboxHealth of(OutboxRelay relay) {
    return relay
        .status()
        .map(OutboxHealth::of)
        .orElseGet(() -> new OutboxHealth(true, Map.of("relay", "not running")));
  }

  private static OutboxHealth of(RelayStatus status) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("relay", status.name());
    details.put("listening", status.listening());
    String failure = status.failure();
    if (failure != null) {
      details.put("failure", failure);
    }
    Map<String, Object> destinations = new LinkedHashMap<>();
    status
        .destinations()
        .forEach(
            (name, destination) ->
                destinations.put(
                    name,
                    Map.of(
                        "breaker",
                        destination.breaker(),
                        "openTargets",
                        destination.openTargets(),
                        "inFlight",
                        destination.inFlight())));
    details.put("destinations", destinations);
    boolean stuck = status.sinceLoop().compareTo(STUCK) > 0;
    if (stuck) {
      details.put("stuckForSeconds", status.sinceLoop().toSeconds());
    }
    return new OutboxHealth(status.running() && !stuck, details);
  }
}
