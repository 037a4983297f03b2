package dev.postrider.server.api;

import io.javalin.http.Context;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;

/** Reads a request's body: JSON, not too long, not for too long. */
final class Body {
  private Body() {}

  /** The bytes of a body, none if there is none. */
  static byte[] bytes(Context context, long most, Duration patience) {
    if (context.req().getContentLengthLong() > most) {
      throw tooLarge(most);
    }
    byte[] bytes;
    try {
      bytes = bytes(context.req().getInputStream(), most, patience);
    } catch (IOException e) {
      // The connection was idle for too long, or is gone: then nobody reads the answer.
      throw tooSlow(patience);
    }
    if (bytes.length > 0) {
      checkType(context.contentType());
    }
    return bytes;
  }

  private static byte[] bytes(InputStream in, long most, Duration patience) throws IOException {
    long end = System.nanoTime() + patience.toNanos();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] chunk = new byte[8192];
    for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
      bytes.write(chunk, 0, n);
      if (bytes.size() > most) {
        throw tooLarge(most);
      } else if (System.nanoTime() - end > 0) {
        throw tooSlow(patience);
      }
    }
    return bytes.toByteArray();
  }

  private static void checkType(@Nullable String type) {
    String plain = type == null ? "" : type.split(";", 2)[0].trim().toLowerCase(Locale.ROOT);
    if (!plain.equals("application/json")) {
      throw Problem.of(
              415,
              "unsupported-media-type",
              "Unsupported media type",
              "a body must be application/json, got " + (type == null ? "no type" : type))
          .toException();
    }
  }

  static JsonNode read(byte[] bytes) {
    try {
      JsonNode node = bytes.length == 0 ? JsonText.tree(Map.of()) : JsonText.read(bytes);
      if (node.isObject()) {
        return node;
      }
      throw Problem.invalid("", "the body must be a JSON object, got " + Wanted.shown(node))
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

  private static ProblemException tooLarge(long most) {
    return Problem.of(
            413, "too-large", "Request too large", "a body may have " + most + " bytes at most")
        .toException();
  }

  private static ProblemException tooSlow(Duration patience) {
    return Problem.of(
            408,
            "too-slow",
            "Request too slow",
            "the body was not here within " + patience.toMillis() / 1000.0 + " seconds")
        .toException();
  }
}
