package dev.postrider.cli.config;

import dev.postrider.message.RetryPolicy;

/**
 * Which messages go where; {@code *} stands for every namespace or topic. Immutable.
 *
 * @param subscription empty for the default subscription
 */
public record RouteConfig(
    String namespace, String topic, String subscription, String destination, RetryPolicy retry) {
  /** What stands for all. */
  public static final String ANY = "*";
}
