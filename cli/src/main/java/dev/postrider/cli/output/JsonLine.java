package dev.postrider.cli.output;

import dev.postrider.internal.text.Json;
import dev.postrider.internal.text.Printable;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes maps, lists and values as JSON on one line, safe to show on a terminal. */
public final class JsonLine {
  private JsonLine() {}

  /** JSON that is put in as it is. */
  public record Raw(String json) {}

  public static String of(@Nullable Object value) {
    StringBuilder out = new StringBuilder();
    write(out, value);
    return Printable.json(out.toString());
  }

  /**
   * A payload: JSON as it is but on one line, text as a string, anything else as base64 in an
   * object of its own.
   *
   * @param json what enqueue has found, never what a content type says
   */
  public static Object payload(boolean json, byte[] payload) {
    @Nullable String text = decoded(payload);
    if (text == null) {
      return Map.of("base64", Base64.getEncoder().encodeToString(payload));
    }
    // Between the values of valid JSON a line break means nothing, and within them there is none.
    return json ? new Raw(text.replaceAll("[\\r\\n]+\\s*", " ").strip()) : text;
  }

  private static @Nullable String decoded(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private static void write(StringBuilder out, @Nullable Object value) {
    if (value == null || value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else if (value instanceof Raw raw) {
      out.append(raw.json());
    } else if (value instanceof Map<?, ?> map) {
      object(out, map);
    } else if (value instanceof Iterable<?> items) {
      array(out, items);
    } else if (value instanceof Duration duration) {
      out.append(duration.toMillis() / 1000.0); // seconds, as everywhere in metrics
    } else if (value instanceof Enum<?> constant) {
      Json.quote(out, constant.name().toLowerCase(Locale.ROOT));
    } else {
      Json.quote(out, value.toString());
    }
  }

  private static void object(StringBuilder out, Map<?, ?> map) {
    out.append('{');
    boolean first = true;
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      out.append(first ? "" : ",");
      first = false;
      Json.quote(out, String.valueOf(entry.getKey()));
      out.append(':');
      write(out, entry.getValue());
    }
    out.append('}');
  }

  private static void array(StringBuilder out, Iterable<?> items) {
    out.append('[');
    boolean first = true;
    for (Object item : items) {
      out.append(first ? "" : ",");
      first = false;
      write(out, item);
    }
    out.append(']');
  }
}
