package dev.postrider.server.api;

import tools.jackson.databind.JsonNode;

/** Says what was expected, and what came instead. */
final class Expectation {
  private static final int SHOWN_MAX = 60;

  private Expectation() {}

  static String of(Field field) {
    if (!field.choices().isEmpty()) {
      return "must be one of " + String.join(", ", field.choices());
    }
    return switch (field.kind()) {
      case TEXT -> "must be text of " + field.min() + " to " + field.max() + " characters";
      case INTEGER ->
          field.min() == Long.MIN_VALUE
              ? "must be a whole number"
              : "must be a whole number from " + field.min() + " to " + field.max();
      case NUMBER -> "must be a number above 0 and below 1000000000";
      case BOOLEAN -> "must be true or false";
      case TIME ->
          "must be a time with its offset in the years 1 to 9999, such as 2026-01-31T08:00:00Z";
      case DURATION -> "must be a duration in ISO 8601 of at most 36500 days, such as PT5M";
      case ID -> "must be a UUID";
      case JSON -> "must be JSON";
      case TEXTS -> "must be an object of text values";
      case IDS -> "must be an array of " + field.min() + " to " + field.max() + " UUIDs";
      case WORDS -> "must be an array of text";
      case OBJECT -> "must be an object";
      case LIST -> "must be an array of " + field.min() + " to " + field.max() + " objects";
    };
  }

  static String shown(JsonNode value) {
    if (value.isObject()) {
      return "an object";
    } else if (value.isArray()) {
      return "an array of " + value.size();
    }
    return cut(value.toString(), SHOWN_MAX);
  }

  /** At most so many characters, and never half of a surrogate pair, which JSON cannot hold. */
  static String cut(String text, int most) {
    if (text.length() <= most) {
      return text;
    }
    boolean half = Character.isHighSurrogate(text.charAt(most - 1));
    return text.substring(0, half ? most - 1 : most) + "…";
  }
}
