package dev.postrider.cli.config;

import dev.postrider.message.RetryPolicy;

/**
 * Which messages go to which destination; {@code *} matches every namespace or topic. Immutable.
 *
 * @param subscription empty for the default subscription
 */
public record RouteConfig(
    String namespace, String topic, String subscription, String destination, RetryPolicy retry) {
  /** Matches all. */
  public static final String ANY = "*";
}
