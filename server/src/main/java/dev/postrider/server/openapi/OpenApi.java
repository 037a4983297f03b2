package dev.postrider.server.openapi;

import dev.postrider.access.Permission;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Problem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An OpenAPI 3.1 document from endpoints. */
final class OpenApi {
  private OpenApi() {}

  static Map<String, Object> of(List<Endpoint> endpoints) {
    Map<String, Map<String, Object>> paths = new LinkedHashMap<>();
    for (Endpoint endpoint : endpoints) {
      paths
          .computeIfAbsent(endpoint.path(), path -> new LinkedHashMap<>())
          .put(endpoint.method().name().toLowerCase(Locale.ROOT), operation(endpoint));
    }
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("openapi", "3.1.0");
    document.put("info", Map.of("title", "Postrider", "version", "v1"));
    document.put("paths", paths);
    document.put(
        "components",
        Map.of(
            "securitySchemes",
            Map.of(
                "token", Map.of("type", "http", "scheme", "bearer"),
                "metrics", Map.of("type", "apiKey", "in", "header", "name", "x-metrics-token")),
            "schemas",
            Map.of("Problem", problem())));
    return document;
  }

  private static Map<String, Object> operation(Endpoint endpoint) {
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
      operation.put(
          "requestBody",
          Map.of(
              "required",
              endpoint.takes().body().stream().anyMatch(Field::required),
              "content",
              content("application/json", Schemas.object(endpoint.takes().body()))));
    }
    operation.put("responses", responses(endpoint));
    return operation;
  }

  private static String operationId(Endpoint endpoint) {
    return endpoint.method().name().toLowerCase(Locale.ROOT)
        + endpoint.path().replaceFirst("^/v1", "").replaceAll("[^A-Za-z0-9]+", "_");
  }

  private static List<Object> security(Permission needed) {
    List<Object> schemes = new ArrayList<>(List.of(Map.of("token", List.of())));
    if (needed == Permission.METRICS) {
      schemes.add(Map.of("metrics", List.of()));
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

  private static Map<String, Object> responses(Endpoint endpoint) {
    return Map.of(
        Integer.toString(endpoint.status()),
        Map.of("description", "Done", "content", content(endpoint.produces(), Map.of())),
        "default",
        Map.of(
            "description",
            "What went wrong",
            "content",
            content(Problem.MEDIA_TYPE, Map.of("$ref", "#/components/schemas/Problem"))));
  }

  private static Map<String, Object> content(String type, Map<String, Object> schema) {
    return Map.of(type, Map.of("schema", schema));
  }

  private static Map<String, Object> problem() {
    Map<String, Object> text = Map.of("type", "string");
    return Map.of(
        "type",
        "object",
        "required",
        List.of("type", "title", "status", "detail"),
        "properties",
        Map.of(
            "type", text,
            "title", text,
            "status", Map.of("type", "integer"),
            "detail", text,
            "errors",
                Map.of(
                    "type",
                    "array",
                    "items",
                    Map.of(
                        "type", "object", "properties", Map.of("field", text, "message", text)))));
  }
}
