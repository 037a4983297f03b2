package dev.postrider.server.api;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
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
    } catch (StreamConstraintsException e) {
      throw Problem.of(
              413,
              "too-large",
              "Request too large",
              "the body is too large as JSON: " + withoutOrigin(e.getOriginalMessage()))
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

  /** Jackson names the setting of its own that was exceeded, which callers cannot change. */
  private static String withoutOrigin(String message) {
    return message.replaceAll(", from `[^`]*`", "");
  }
}
