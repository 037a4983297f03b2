package dev.postrider.server.openapi;

import dev.postrider.access.Permission;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An OpenAPI 3.1 document from endpoints. */
final class OpenApi {
  private final Responses responses = new Responses();

  private OpenApi() {}

  static Map<String, Object> of(List<Endpoint> endpoints) {
    return Stable.map(new OpenApi().document(endpoints));
  }

  private Map<String, Object> document(List<Endpoint> endpoints) {
    Map<String, Map<String, Object>> paths = new LinkedHashMap<>();
    for (Endpoint endpoint : endpoints) {
      paths
          .computeIfAbsent(endpoint.path(), path -> new LinkedHashMap<>())
          .put(endpoint.method().name().toLowerCase(Locale.ROOT), operation(endpoint));
    }
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("openapi", "3.1.0");
    document.put("info", info());
    document.put("servers", List.of(Ordered.of("url", "/", "description", "The server itself")));
    document.put("tags", tags(endpoints));
    document.put("paths", paths);
    Map<String, Object> components = new LinkedHashMap<>();
    components.put("securitySchemes", securitySchemes());
    components.put("responses", responses.problems());
    components.put("schemas", responses.schemas());
    document.put("components", components);
    return document;
  }

  private static Map<String, Object> info() {
    Map<String, Object> info = new LinkedHashMap<>();
    info.put("title", "Postrider");
    info.put("version", "v1");
    info.put(
        "description",
        "Enqueue, look, operate and follow. Problems are application/problem+json (RFC 9457)."
            + " Lists come in pages: give a page's next as the cursor of the next call.");
    info.put("license", Ordered.of("name", "Apache-2.0", "identifier", "Apache-2.0"));
    return info;
  }

  private static List<Object> tags(List<Endpoint> endpoints) {
    return endpoints.stream()
        .map(Endpoint::group)
        .distinct()
        .<Object>map(group -> Ordered.of("name", group, "description", "All about " + group))
        .toList();
  }

  private static Map<String, Object> securitySchemes() {
    Map<String, Object> schemes = new LinkedHashMap<>();
    schemes.put("token", Ordered.of("type", "http", "scheme", "bearer"));
    schemes.put("metrics", Ordered.of("type", "apiKey", "in", "header", "name", "x-metrics-token"));
    return schemes;
  }

  private Map<String, Object> operation(Endpoint endpoint) {
    Map<String, Object> operation = new LinkedHashMap<>();
    operation.put("operationId", operationId(endpoint));
    operation.put("tags", List.of(endpoint.group()));
    operation.put("summary", endpoint.summary());
    @Nullable Permission needed = endpoint.guard().permission();
    if (needed == null) {
      operation.put("security", List.of());
    } else {
      operation.put("security", security(needed));
      operation.put("x-permission", needed.label());
      operation.put("x-scoped", endpoint.guard().scoped());
    }
    operation.put("parameters", parameters(endpoint.takes()));
    if (!endpoint.takes().body().isEmpty()) {
      operation.put("requestBody", requestBody(endpoint.takes().body()));
    }
    operation.put("responses", responses.of(endpoint));
    return operation;
  }

  private static Map<String, Object> requestBody(List<Field> fields) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("required", fields.stream().anyMatch(Field::required));
    body.put(
        "content", Ordered.of("application/json", Ordered.of("schema", Schemas.object(fields))));
    return body;
  }

  private static String operationId(Endpoint endpoint) {
    return endpoint.method().name().toLowerCase(Locale.ROOT)
        + endpoint.path().replaceFirst("^/v1", "").replaceAll("[^A-Za-z0-9]+", "_");
  }

  private static List<Object> security(Permission needed) {
    List<Object> schemes = new ArrayList<>(List.of(Ordered.of("token", List.of())));
    if (needed == Permission.METRICS) {
      schemes.add(Ordered.of("metrics", List.of()));
    }
    return schemes;
  }

  private static List<Object> parameters(Endpoint.Takes takes) {
    List<Object> parameters = new ArrayList<>();
    takes.path().forEach(field -> parameters.add(parameter("path", field)));
    takes.query().forEach(field -> parameters.add(parameter("query", field)));
    takes.headers().forEach(field -> parameters.add(parameter("header", field)));
    return parameters;
  }

  private static Map<String, Object> parameter(String in, Field field) {
    Map<String, Object> parameter = new LinkedHashMap<>();
    parameter.put("name", field.name());
    parameter.put("in", in);
    parameter.put("required", field.required());
    parameter.put("description", field.description());
    parameter.put("schema", Schemas.of(field));
    return parameter;
  }
}
