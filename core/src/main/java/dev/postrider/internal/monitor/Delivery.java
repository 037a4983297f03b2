package dev.postrider.internal.monitor;

import dev.postrider.message.Route;

/**
 * An attempt with its message. Immutable.
 *
 * @param subscription empty for the default subscription
 */
public record Delivery(Attempt attempt, Sent message, String subscription) {
  /** The subscription that it was for. */
  public Route route() {
    Route topic = message.route();
    return new Route(topic.namespace(), topic.topic(), subscription);
  }
}
