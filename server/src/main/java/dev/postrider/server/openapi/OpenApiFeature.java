package dev.postrider.server.openapi;

import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Feature;
import java.util.List;
import java.util.function.Supplier;

/** Serves the OpenAPI document. Thread-safe. */
public final class OpenApiFeature implements Feature {
  private final Supplier<List<Endpoint>> all;

  /** All endpoints of the server, this one included: asked for with each call. */
  public OpenApiFeature(Supplier<List<Endpoint>> all) {
    this.all = all;
  }

  @Override
  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.getPublic("/v1/openapi.json")
            .about("openapi", "This document")
            .handledBy(call -> OpenApi.of(all.get())));
  }
}
