package dev.postrider.relay;

import dev.postrider.message.RetryPolicy;

/** How the messages of a route are treated. Immutable. */
public record RouteOptions(RetryPolicy retry, MessageCheck check) {
  public static final RouteOptions DEFAULT =
      new RouteOptions(RetryPolicy.DEFAULT, MessageCheck.NONE);

  public RouteOptions withRetry(RetryPolicy value) {
    return new RouteOptions(value, check);
  }

  public RouteOptions withCheck(MessageCheck value) {
    return new RouteOptions(retry, value);
  }
}
