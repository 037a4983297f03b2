package dev.postrider.server.openapi;

import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Feature;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Serves the OpenAPI document. Thread-safe. */
public final class OpenApiFeature implements Feature {
  private final Supplier<List<Endpoint>> all;

  /** All endpoints of the server, this one included: asked for with each call. */
  public OpenApiFeature(Supplier<List<Endpoint>> all) {
    this.all = all;
  }

  /** The document for these endpoints. */
  public static Map<String, Object> document(List<Endpoint> endpoints) {
    return OpenApi.of(endpoints);
  }

  @Override
  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.getPublic("/v1/openapi.json")
            .about("openapi", "This document")
            .answers(Map.class)
            .handledBy(call -> document(all.get())));
  }
}
