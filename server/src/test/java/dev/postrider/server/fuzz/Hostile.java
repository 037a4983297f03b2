package dev.postrider.server.fuzz;

import dev.postrider.server.api.Field;
import dev.postrider.server.api.JsonText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;

/** Values for fields: good ones, so that a call gets far, and those that somebody might try. */
final class Hostile {
  private static final String DEEP = "[".repeat(100_000) + "]".repeat(100_000);
  private static final String UUID_7 = "019f0000-0000-7000-8000-000000000000";

  /** Of all kinds, since nobody keeps to the right one. */
  private static final List<String> TEXTS =
      List.of(
          "",
          " ",
          "\0",
          "a\0b",
          "\t\r\n",
          "\u001b[31m",
          "\u0085\u009b",
          "\ud800",
          "\udc00x",
          "\ud83d\ude00",
          "\ufeff",
          "\uffff",
          "'; drop table message; --",
          "%",
          "_",
          "\\",
          "\"",
          "../../etc/passwd",
          "x".repeat(5_000),
          "é".repeat(2_100),
          "\ud83d\ude00".repeat(2_048),
          "true",
          "null",
          "NaN",
          "[]",
          "{}",
          "-1",
          "0",
          "-0",
          "1",
          "1.5",
          "1e400",
          "-1e400",
          "1e-400",
          "1e999999999",
          "9".repeat(1_200),
          "0x10",
          "2147483648",
          "9223372036854775807",
          "9223372036854775808",
          "-9223372036854775808",
          "0000-01-01T00:00:00Z",
          "-0001-01-01T00:00:00Z",
          "0001-01-01T00:00:00+18:00",
          "9999-12-31T23:59:59.999999999-18:00",
          "+10000-01-01T00:00:00Z",
          "+294277-01-01T00:00:00Z",
          "+999999999-12-31T23:59:59.999999999Z",
          "-999999999-01-01T00:00:00+18:00",
          "-4713-01-01T00:00:00Z",
          "2026-02-30T00:00:00Z",
          "2026-01-01T24:00:00Z",
          "2016-12-31T23:59:60Z",
          "2026-01-01T00:00:00",
          "2026-01-01T00:00:00.000000001Z",
          "infinity",
          "PT0S",
          "PT-1S",
          "-PT1S",
          "PT0.000000001S",
          "PT9223372036854775807S",
          "PT-9223372036854775808S",
          "PT153722867280912930M",
          "P106751991167300D",
          "P3650D",
          "P1Y",
          "00000000-0000-0000-0000-000000000000",
          "ffffffff-ffff-ffff-ffff-ffffffffffff",
          "ffffffff-ffff-7fff-bfff-ffffffffffff",
          "1-1-1-1-1",
          UUID_7,
          "2026-01-01T00:00:00Z_" + UUID_7,
          "+1000000000-12-31T23:59:59.999999999Z_" + UUID_7,
          "-1000000000-01-01T00:00:00Z_" + UUID_7,
          "0000-01-01T00:00:00Z_1-1-1-1-1",
          "_",
          "earliest",
          "999999999999999999",
          "operator",
          "discarded");

  /** Bodies' values that are not text. */
  private static final List<String> JSON =
      List.of(
          "null",
          "true",
          "0",
          "-1",
          "1e400",
          "1e-400",
          "-1e400",
          "1e999999999",
          "0.00000000000000000000000001",
          "9223372036854775808",
          "9".repeat(900),
          "[]",
          "{}",
          "[[]]",
          "[null]",
          "[1, \"a\"]",
          "{\"\": \"\"}",
          "{\"a\": null}",
          "{\"a\": {\"b\": []}}",
          "{\"a\\u0000\": \"b\\u0000\"}",
          "{\"a\": \"\\ud800\"}",
          "[\"" + UUID_7 + "\"]",
          "[{}]",
          "[\"read\", \"no-such-permission\"]",
          "\"\\u0000\"",
          "\"\\ud800\"",
          DEEP,
          "{\"a\":".repeat(400) + "1" + "}".repeat(400),
          "[".repeat(450) + "]".repeat(450));

  private static final List<String> PAYLOADS =
      List.of(DEEP, "nul", "{\"a\": \"\\u0000\"}", "\"\\ud800\"", "1e999999999", "\0", "{}");

  private final Random random;

  Hostile(Random random) {
    this.random = random;
  }

  String text() {
    String text = pick(TEXTS);
    return switch (random.nextInt(8)) {
      case 0 -> text + pick(TEXTS);
      case 1 -> mutated(text);
      default -> text;
    };
  }

  private String mutated(String text) {
    StringBuilder changed = new StringBuilder(text);
    for (int i = random.nextInt(3); i >= 0; i--) {
      changed.insert(
          random.nextInt(changed.length() + 1),
          (char) random.nextInt(random.nextBoolean() ? 128 : 65_536));
    }
    return changed.toString();
  }

  /** As JSON. */
  String json() {
    return random.nextInt(3) == 0 ? pick(JSON) : JsonText.text(text());
  }

  /** An object of these fields, with about as many hostile values as asked for. */
  String object(List<Field> fields, double share) {
    List<String> members = new ArrayList<>();
    for (Field field : fields) {
      if (field.required() || random.nextInt(3) == 0) {
        String value = random.nextDouble() < share ? hostile(field) : good(field, share);
        members.add(JsonText.text(field.name()) + ": " + value);
      }
    }
    if (random.nextInt(50) == 0) {
      members.add(JsonText.text(text()) + ": " + json());
    }
    return "{" + String.join(", ", members) + "}";
  }

  private String hostile(Field field) {
    if (field.name().equals("payload_base64") && random.nextBoolean()) {
      byte[] payload = pick(PAYLOADS).getBytes(StandardCharsets.UTF_8);
      return "\"" + Base64.getEncoder().encodeToString(payload) + "\"";
    }
    return json();
  }

  private String good(Field field, double share) {
    return switch (field.kind()) {
      case INTEGER, NUMBER, BOOLEAN -> good(field);
      case JSON -> "{\"n\": 1}";
      case TEXTS -> "{\"trace\": \"1\"}";
      case IDS -> "[\"" + UUID_7 + "\"]";
      case WORDS -> "[\"read\"]";
      case OBJECT -> object(field.of(), share);
      case LIST -> "[" + object(field.of(), share) + ", " + object(field.of(), share) + "]";
      default -> JsonText.text(good(field));
    };
  }

  /** As text, of a path or query. */
  String good(Field field) {
    if (!field.choices().isEmpty()) {
      return pick(field.choices());
    }
    return switch (field.kind()) {
      case INTEGER -> field.max() == Long.MAX_VALUE ? "999999" : Long.toString(field.max());
      case NUMBER -> "5.5";
      case BOOLEAN -> "true";
      case TIME -> "2026-0" + (1 + random.nextInt(9)) + "-01T00:00:00Z";
      case DURATION -> "PT24H";
      case ID -> UUID_7;
      default -> field.name().equals("content_type") ? "application/json" : "t" + random.nextInt(9);
    };
  }

  <T> T pick(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }
}
