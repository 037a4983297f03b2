package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.Permission;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.stream.StreamConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

@Tag("OP-3")
class OpenApiTest {
  private static Desk desk;
  private static JsonNode document;

  @BeforeAll
  static void open() {
    desk = Desk.open();
    document = desk.get(null, "/v1/openapi.json").json();
  }

  @AfterAll
  static void close() {
    desk.close();
  }

  @Test
  void everyRouteIsDescribedAndEveryDescriptionIsARoute() {
    List<String> described = new ArrayList<>();
    for (Map.Entry<String, JsonNode> path : document.get("paths").properties()) {
      for (String method : path.getValue().propertyNames()) {
        described.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey());
      }
    }
    assertThat(document.get("openapi").stringValue()).isEqualTo("3.1.0");
    assertThat(described)
        .containsExactlyInAnyOrderElementsOf(
            desk.server.endpoints().stream().map(Endpoint::name).toList());
  }

  @Test
  void parametersAndPermissionsAreDescribed() {
    for (Endpoint endpoint : desk.server.endpoints()) {
      JsonNode operation = operation(endpoint);
      assertThat(operation.get("summary").stringValue()).isNotBlank();
      List<String> names = new ArrayList<>();
      operation
          .get("parameters")
          .forEach(
              parameter -> {
                assertThat(parameter.get("description").stringValue()).isNotBlank();
                names.add(parameter.get("in").stringValue() + parameter.get("name").stringValue());
              });
      List<String> expected = new ArrayList<>();
      endpoint.takes().path().forEach(field -> expected.add("path" + field.name()));
      endpoint.takes().query().forEach(field -> expected.add("query" + field.name()));
      endpoint.takes().headers().forEach(field -> expected.add("header" + field.name()));
      assertThat(names).as(endpoint.name()).containsExactlyElementsOf(expected);
      Permission needed = endpoint.guard().permission();
      if (needed == null) {
        assertThat(operation.get("security")).isEmpty();
      } else {
        assertThat(operation.get("x-permission").stringValue()).isEqualTo(needed.label());
        assertThat(operation.get("security").get(0).has("token")).isTrue();
      }
    }
  }

  @Test
  void bodiesAreDescribed() {
    for (Endpoint endpoint : desk.server.endpoints()) {
      List<Field> body = endpoint.takes().body();
      JsonNode request = operation(endpoint).get("requestBody");
      assertThat(request != null).as(endpoint.name()).isEqualTo(!body.isEmpty());
      if (request != null) {
        JsonNode schema = request.get("content").get("application/json").get("schema");
        assertThat(schema.get("properties").propertyNames())
            .containsExactlyElementsOf(body.stream().map(Field::name).toList());
        assertThat(schema.get("additionalProperties").booleanValue()).isFalse();
      }
    }
  }

  @Test
  void everyResponseHasASchemaAndProblemsAreDescribed() {
    for (Endpoint endpoint : desk.server.endpoints()) {
      JsonNode responses = operation(endpoint).get("responses");
      assertThat(responses.propertyNames()).as(endpoint.name()).contains("422", "default");
      for (JsonNode response : responses) {
        (response.has("$ref")
                ? document.at(response.get("$ref").stringValue().substring(1))
                : response)
            .get("content")
            .forEach(content -> assertThat(content.get("schema")).as(endpoint.name()).isNotEmpty());
      }
      if (endpoint.guard().permission() != null) {
        assertThat(responses.propertyNames()).as(endpoint.name()).contains("401", "403");
      }
    }
  }

  /** Clients are generated from the file; {@code -Dopenapi.write} writes it anew. */
  @Test
  void theFileInTheDocumentationIsTheDocument() throws Exception {
    Path file = Path.of("../docs/reference/openapi.json");
    String text;
    try (Desk streaming = Desk.open(server -> server.streams(StreamConfig.DEFAULT))) {
      text = streaming.get(null, "/v1/openapi.json").json().toPrettyString() + "\n";
    }
    if (Boolean.getBoolean("openapi.write")) {
      Files.writeString(file, text);
    }
    assertThat(file).as("run with -Dopenapi.write=true to update it").hasContent(text);
  }

  /** What the server really routes, not only what it says it does. */
  @Test
  void whatIsNotDescribedIsNotThere() {
    for (Endpoint endpoint : desk.server.endpoints()) {
      for (String method : List.of("PUT", "PATCH")) {
        String path = endpoint.path().replace("{id}", "1");
        assertThat(desk.call(desk.admin, method, path, "").status())
            .as(method + " " + path)
            .isEqualTo(405);
      }
    }
  }

  private static JsonNode operation(Endpoint endpoint) {
    return document
        .get("paths")
        .get(endpoint.path())
        .get(endpoint.method().name().toLowerCase(Locale.ROOT));
  }
}
