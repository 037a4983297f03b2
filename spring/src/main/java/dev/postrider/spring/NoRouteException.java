package dev.postrider.spring;

import dev.postrider.message.PostriderException;

/** A message was published to a topic that no relay has a route for. Nothing was written. */
public final class NoRouteException extends PostriderException {
  private static final long serialVersionUID = 1L;

  NoRouteException(String message) {
    super(message);
  }
}
