package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.server.api.JsonText;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Compares answers with the OpenAPI document. What the document does not name is an error. */
public final class Described {
  private final JsonNode document;
  private final Set<String> seen = new ConcurrentSkipListSet<>();

  Described(JsonNode document) {
    this.document = document;
  }

  /** Operations and statuses that were compared, such as {@code GET /v1/dead 200}. */
  Set<String> seen() {
    return new TreeSet<>(seen);
  }

  /** Fails unless the document describes this answer. */
  void check(HttpResponse<String> response) {
    String method = response.request().method();
    @Nullable String path = path(response.request().uri());
    @Nullable JsonNode operation =
        path == null ? null : document.get("paths").get(path).get(method.toLowerCase(Locale.ROOT));
    if (operation == null) {
      assertThat(response.statusCode()).as(method + " " + response.uri()).isBetween(400, 499);
      return;
    }
    String name = method + " " + path + " " + response.statusCode();
    JsonNode responses = operation.get("responses");
    JsonNode described = responses.get(Integer.toString(response.statusCode()));
    if (described == null) {
      assertThat(response.statusCode()).as(name + " is not described").isGreaterThanOrEqualTo(400);
      described = responses.get("default");
    }
    if (described.has("$ref")) {
      described = document.at(described.get("$ref").stringValue().substring(1));
    }
    seen.add(name);
    String mediaType = response.headers().firstValue("Content-Type").orElse("none");
    @Nullable JsonNode content = described.get("content").get(mediaType);
    assertThat(content).as(name + " is " + mediaType + ", described is " + described).isNotNull();
    if (mediaType.endsWith("json")) {
      JsonNode body = JsonText.read(response.body().getBytes(StandardCharsets.UTF_8));
      assertThat(errors(content.get("schema"), body)).as(name + " " + body).isEmpty();
    }
  }

  /** What is wrong with a value, by a schema of the components. */
  public List<String> errors(String component, JsonNode value) {
    return errors(document.get("components").get("schemas").get(component), value);
  }

  private List<String> errors(JsonNode schema, JsonNode value) {
    List<String> errors = new ArrayList<>();
    check("$", schema, value, errors);
    return errors;
  }

  /** A path without parameters goes first, as the server routes. */
  private @Nullable String path(URI uri) {
    if (document.get("paths").has(uri.getPath())) {
      return uri.getPath();
    }
    for (String path : document.get("paths").propertyNames()) {
      String pattern = Pattern.compile("\\{\\w+}").matcher(path).replaceAll("[^/]+");
      if (uri.getPath().matches(pattern)) {
        return path;
      }
    }
    return null;
  }

  private void check(String at, JsonNode schema, JsonNode value, List<String> errors) {
    if (schema.has("$ref")) {
      String name = schema.get("$ref").stringValue().replace("#/components/schemas/", "");
      check(at, document.get("components").get("schemas").get(name), value, errors);
    } else if (schema.has("oneOf")) {
      long fitting =
          schema.get("oneOf").valueStream().filter(one -> errors(one, value).isEmpty()).count();
      if (fitting != 1) {
        errors.add(at + " fits " + fitting + " of " + schema);
      }
    } else if (schema.has("type")) {
      checkTyped(at, schema, value, errors);
    }
  }

  private void checkTyped(String at, JsonNode schema, JsonNode value, List<String> errors) {
    JsonNode type = schema.get("type");
    List<String> types =
        type.isArray()
            ? type.valueStream().map(JsonNode::stringValue).toList()
            : List.of(type.stringValue());
    if (types.stream().noneMatch(one -> is(one, value))) {
      errors.add(at + " is not " + types + ": " + value);
    } else if (value.isObject()) {
      checkObject(at, schema, value, errors);
    } else if (value.isArray()) {
      for (int i = 0; i < value.size(); i++) {
        check(at + "[" + i + "]", schema.get("items"), value.get(i), errors);
      }
    } else if (value.isString() && !fits(schema, value)) {
      errors.add(at + " is not " + schema + ": " + value);
    }
  }

  private void checkObject(String at, JsonNode schema, JsonNode value, List<String> errors) {
    JsonNode additional = schema.get("additionalProperties");
    for (Map.Entry<String, JsonNode> entry : value.properties()) {
      JsonNode property = schema.path("properties").get(entry.getKey());
      JsonNode by = property == null ? additional : property;
      if (by == null || by.isBoolean()) {
        errors.add(at + "." + entry.getKey() + " is not described");
      } else {
        check(at + "." + entry.getKey(), by, entry.getValue(), errors);
      }
    }
    for (JsonNode required : schema.path("required")) {
      if (!value.has(required.stringValue())) {
        errors.add(at + "." + required.stringValue() + " is missing");
      }
    }
  }

  private static boolean is(String type, JsonNode value) {
    return switch (type) {
      case "object" -> value.isObject();
      case "array" -> value.isArray();
      case "string" -> value.isString();
      case "integer" -> value.isIntegralNumber();
      case "number" -> value.isNumber();
      case "boolean" -> value.isBoolean();
      case "null" -> value.isNull();
      default -> throw new IllegalArgumentException("type " + type);
    };
  }

  private static boolean fits(JsonNode schema, JsonNode value) {
    if (schema.has("enum")) {
      return schema.get("enum").valueStream().anyMatch(value::equals);
    }
    try {
      return switch (schema.path("format").asString("")) {
        case "uuid" -> UUID.fromString(value.stringValue()) != null;
        case "date-time" -> Instant.parse(value.stringValue()) != null;
        default -> true;
      };
    } catch (RuntimeException e) {
      return false;
    }
  }
}
