package dev.postrider.internal.text;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The little JSON that the core needs: strings out, and flat objects of strings (headers) both
 * ways. Payloads are never parsed here. Hand-written so that the core brings no JSON library to
 * those who have their own.
 */
public final class Json {
  private Json() {}

  /** A JSON string, quoted. */
  public static void quote(StringBuilder out, CharSequence text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (c < 0x20) {
            out.append("\\u00").append(Character.forDigit(c >> 4, 16));
            out.append(Character.forDigit(c & 15, 16));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }

  /** An object of strings. */
  public static String write(Map<String, String> map) {
    StringBuilder out = new StringBuilder("{");
    for (Map.Entry<String, String> entry : map.entrySet()) {
      if (out.length() > 1) {
        out.append(',');
      }
      quote(out, entry.getKey());
      out.append(':');
      quote(out, entry.getValue());
    }
    return out.append('}').toString();
  }

  /** Reads what the database gives back for an object of strings. */
  public static Map<String, String> read(@Nullable String json) {
    if (json == null || json.length() <= 2) {
      return Map.of();
    }
    Map<String, String> map = new LinkedHashMap<>();
    Cursor cursor = new Cursor(json);
    while (cursor.seekQuote()) {
      String name = cursor.string();
      if (!cursor.seekQuote()) {
        break;
      }
      map.put(name, cursor.string());
    }
    return map;
  }

  private static final class Cursor {
    private final String json;
    private int at;

    Cursor(String json) {
      this.json = json;
    }

    boolean seekQuote() {
      at = json.indexOf('"', at);
      return at++ >= 0;
    }

    String string() {
      StringBuilder out = new StringBuilder();
      while (true) {
        char c = json.charAt(at++);
        if (c == '"') {
          return out.toString();
        }
        out.append(c == '\\' ? escape() : c);
      }
    }

    private char escape() {
      char c = json.charAt(at++);
      return switch (c) {
        case 'n' -> '\n';
        case 'r' -> '\r';
        case 't' -> '\t';
        case 'b' -> '\b';
        case 'f' -> '\f';
        case 'u' -> {
          at += 4;
          yield (char) Integer.parseInt(json, at - 4, at, 16);
        }
        default -> c;
      };
    }
  }
}
