package dev.postrider.internal.monitor;

import dev.postrider.message.Route;
import org.jspecify.annotations.Nullable;

/**
 * An attempt with its message. Immutable.
 *
 * @param subscription empty for the default subscription
 * @param relay the name of the relay that made the attempt; null if it is not known
 */
public record Delivery(Attempt attempt, Sent message, String subscription, @Nullable String relay) {
  /** The subscription that it was for. */
  public Route route() {
    Route topic = message.route();
    return new Route(topic.namespace(), topic.topic(), subscription);
  }
}
