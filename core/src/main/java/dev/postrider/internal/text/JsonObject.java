package dev.postrider.internal.text;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes one JSON object; payload bytes go in as they are. Used by one thread. */
public final class JsonObject {
  private final StringBuilder head = new StringBuilder(256).append('{');

  /** A string; nothing at all if it is null. */
  public JsonObject with(String name, @Nullable String value) {
    if (value != null) {
      name(name);
      Json.quote(head, value);
    }
    return this;
  }

  public JsonObject with(String name, long value) {
    name(name);
    head.append(value);
    return this;
  }

  public JsonObject with(String name, boolean value) {
    name(name);
    head.append(value);
    return this;
  }

  /** An object of strings. */
  public JsonObject with(String name, Map<String, String> value) {
    name(name);
    head.append(Json.write(value));
    return this;
  }

  /** A string or null. */
  public JsonObject withOrNull(String name, @Nullable String value) {
    if (value == null) {
      name(name);
      head.append("null");
    }
    return with(name, value);
  }

  /** Ends the object; in UTF-8. */
  public byte[] end() {
    return head.append('}').toString().getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Ends the object with the payload: JSON is embedded, other text becomes a string, anything else
   * base64 under the other name.
   *
   * @param json what enqueue has found, never what a content type says: anything but valid JSON
   *     could write fields of this object
   */
  public byte[] endWithPayload(
      boolean json, String contentType, byte[] payload, String name, String base64Name) {
    if (json) {
      name(name);
      byte[] before = head.toString().getBytes(StandardCharsets.UTF_8);
      ByteArrayOutputStream out = new ByteArrayOutputStream(before.length + payload.length + 1);
      out.writeBytes(before);
      out.writeBytes(payload);
      out.write('}');
      return out.toByteArray();
    }
    return contentType.toLowerCase(Locale.ROOT).startsWith("text/")
        ? with(name, new String(payload, StandardCharsets.UTF_8)).end()
        : with(base64Name, Base64.getEncoder().encodeToString(payload)).end();
  }

  private void name(String name) {
    if (head.length() > 1) {
      head.append(',');
    }
    Json.quote(head, name);
    head.append(':');
  }
}
