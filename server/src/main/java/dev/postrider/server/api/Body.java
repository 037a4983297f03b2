package dev.postrider.server.api;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;

/** Reads a body as the JSON object that it must be. */
final class Body {
  private Body() {}

  static JsonNode read(byte[] bytes) {
    try {
      JsonNode node = bytes.length == 0 ? JsonText.tree(Map.of()) : JsonText.read(bytes);
      if (node.isObject()) {
        return node;
      }
      throw Problem.invalid("", "the body must be a JSON object, got " + Expectation.shown(node))
          .toException();
    } catch (JacksonException e) {
      @Nullable TokenStreamLocation place = e.getLocation();
      throw Problem.of(
              400,
              "not-json",
              "Not JSON",
              "the body is not JSON: "
                  + e.getOriginalMessage()
                  + (place == null
                      ? ""
                      : ", at line " + place.getLineNr() + ", column " + place.getColumnNr()))
          .toException();
    }
  }
}
