package dev.postrider.server.api;

import java.util.List;

/** A part of the server: the endpoints it contributes, and what it has to stop at the end. */
public interface Feature extends AutoCloseable {
  List<Endpoint> endpoints();

  /** Called once, when the server stops and before its connections are closed. */
  @Override
  default void close() {}
}
