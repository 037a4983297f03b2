package dev.postrider.server.openapi;

import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Feature;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Serves the OpenAPI document. Thread-safe. */
public final class OpenApiFeature implements Feature {
  private final Supplier<List<Endpoint>> all;
  private volatile @Nullable Map<String, Object> document;

  /** All endpoints of the server, this one included: asked for with the first call. */
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
            .handledBy(call -> document()));
  }

  /** Anybody may ask for it, and making it takes much longer than writing it. */
  private Map<String, Object> document() {
    @Nullable Map<String, Object> made = document;
    if (made == null) {
      made = document(all.get());
      document = made;
    }
    return made;
  }
}
