package dev.postrider.envelope;

import dev.postrider.message.Json;
import dev.postrider.message.Message;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Writes one JSON object; payload bytes go in as they are. Used by one thread. */
final class JsonObject {
  private final StringBuilder head = new StringBuilder(256).append('{');

  /** A string; nothing at all if it is null. */
  JsonObject with(String name, @Nullable String value) {
    if (value != null) {
      name(name);
      Json.quote(head, value);
    }
    return this;
  }

  JsonObject withOrNull(String name, @Nullable String value) {
    if (value == null) {
      name(name);
      head.append("null");
    }
    return with(name, value);
  }

  /**
   * Ends the object with the payload: JSON is embedded, other text becomes a string, anything else
   * base64 under the other name.
   */
  byte[] endWithPayload(Message message, String name, String base64Name) {
    String type = message.contentType().toLowerCase(Locale.ROOT);
    if (isJson(type)) {
      name(name);
      byte[] before = head.toString().getBytes(StandardCharsets.UTF_8);
      ByteArrayOutputStream out =
          new ByteArrayOutputStream(before.length + message.payload().length + 1);
      out.writeBytes(before);
      out.writeBytes(message.payload());
      out.write('}');
      return out.toByteArray();
    }
    if (type.startsWith("text/")) {
      with(name, message.text());
    } else {
      with(base64Name, Base64.getEncoder().encodeToString(message.payload()));
    }
    return head.append('}').toString().getBytes(StandardCharsets.UTF_8);
  }

  private static boolean isJson(String type) {
    int end = type.indexOf(';');
    String bare = end < 0 ? type : type.substring(0, end).stripTrailing();
    return bare.equals(Message.JSON) || bare.endsWith("+json");
  }

  private void name(String name) {
    if (head.length() > 1) {
      head.append(',');
    }
    Json.quote(head, name);
    head.append(':');
  }
}
