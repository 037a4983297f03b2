package dev.postrider.server.api;

import dev.postrider.server.api.Problem.FieldError;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/** Compares what was sent with what was declared, and collects every difference. For one call. */
final class RequestCheck {
  private static final int ITEMS_MAX = 10_000;

  /** More would only make the answer longer than the request. */
  private static final int ERRORS_MAX = 100;

  private static final int NAME_MAX = 200;
  private static final BigDecimal LEAST = new BigDecimal("1e-9");
  private static final BigDecimal MOST = new BigDecimal("1e9");
  private final List<FieldError> errors = new ArrayList<>();

  /** Query or path parameters: text, whatever the kind. */
  Values texts(Map<String, List<String>> given, List<Field> fields) {
    Map<String, Object> values = new LinkedHashMap<>();
    unknown("", given.keySet(), fields);
    for (Field field : fields) {
      List<String> all = given.getOrDefault(field.name(), List.of());
      if (all.size() > 1) {
        error(field.name(), "is given " + all.size() + " times; once is enough");
      } else if (all.isEmpty()) {
        missing("", field);
      } else {
        put(values, "", field, parsed(field, all.get(0)));
      }
    }
    return new Values(values);
  }

  /** A JSON object. */
  Values object(String path, JsonNode given, List<Field> fields) {
    Map<String, Object> values = new LinkedHashMap<>();
    unknown(path, given.propertyNames(), fields);
    for (Field field : fields) {
      @Nullable JsonNode value = given.get(field.name());
      if (value == null || (value.isNull() && field.kind() != Kind.JSON)) {
        missing(path, field);
      } else {
        put(values, path, field, value);
      }
    }
    return new Values(values);
  }

  /** Throws all that was found, if anything was. */
  void done() {
    if (!errors.isEmpty()) {
      throw Problem.invalid(errors).toException();
    }
  }

  private void unknown(String path, Collection<String> given, List<Field> fields) {
    List<String> known = fields.stream().map(Field::name).toList();
    for (String name : given) {
      if (!known.contains(name)) {
        error(
            path + name,
            known.isEmpty()
                ? "is not known; nothing is expected here"
                : "is not known; known are " + String.join(", ", known));
      }
    }
  }

  private void missing(String path, Field field) {
    if (field.required()) {
      error(path + field.name(), "is missing; " + Expectation.of(field));
    }
  }

  private void put(Map<String, Object> values, String path, Field field, JsonNode given) {
    int before = errors.size();
    @Nullable Object value = value(path + field.name(), field, given);
    if (value != null) {
      values.put(field.name(), value);
    } else if (errors.size() == before) {
      error(path + field.name(), Expectation.of(field) + ", got " + Expectation.shown(given));
    }
  }

  /** Text of a query as JSON would have it. */
  private static JsonNode parsed(Field field, String text) {
    return switch (field.kind()) {
      case INTEGER, NUMBER, BOOLEAN -> JsonText.scalar(text);
      default -> StringNode.valueOf(text);
    };
  }

  /** Null if it is not what was declared; details are in the errors, or it is the wrong type. */
  private @Nullable Object value(String path, Field field, JsonNode given) {
    return switch (field.kind()) {
      case TEXT -> given.isString() ? text(path, field, given.stringValue()) : null;
      case INTEGER -> integer(field, given);
      case NUMBER -> given.isNumber() ? positive(given.decimalValue()) : null;
      case BOOLEAN -> given.isBoolean() ? given.booleanValue() : null;
      case TIME -> given.isString() ? time(given.stringValue()) : null;
      case DURATION -> given.isString() ? duration(given.stringValue()) : null;
      case ID -> given.isString() ? id(given.stringValue()) : null;
      case JSON -> given;
      case TEXTS -> texts(path, given);
      case IDS -> ids(path, field, given);
      case WORDS -> words(path, given);
      case OBJECT -> given.isObject() ? object(path + ".", given, field.of()) : null;
      case LIST -> list(path, field, given);
    };
  }

  private @Nullable String text(String path, Field field, String text) {
    if (!field.choices().isEmpty()) {
      return field.choices().contains(text) ? text : null;
    }
    int length = text.codePointCount(0, text.length()); // as PostgreSQL counts
    if (length < field.min() || length > field.max()) {
      error(path, Expectation.of(field) + ", has " + length);
    } else if (text.indexOf('\0') >= 0) {
      error(path, "must not contain the character U+0000, which PostgreSQL cannot store");
    }
    return text;
  }

  private static @Nullable Long integer(Field field, JsonNode given) {
    boolean fits =
        given.isIntegralNumber()
            && given.canConvertToLong()
            && given.longValue() >= field.min()
            && given.longValue() <= field.max();
    return fits ? given.longValue() : null;
  }

  /** Compared before it is converted: most numbers in JSON are no doubles. */
  private static @Nullable Double positive(BigDecimal value) {
    boolean fits = value.compareTo(LEAST) >= 0 && value.compareTo(MOST) < 0;
    return fits ? value.doubleValue() : null;
  }

  private static @Nullable Instant time(String text) {
    try {
      Instant time = OffsetDateTime.parse(text).toInstant();
      return Times.storable(time) ? time : null;
    } catch (DateTimeParseException e) {
      return null;
    }
  }

  private static @Nullable Duration duration(String text) {
    try {
      Duration duration = Duration.parse(text);
      return duration.abs().compareTo(Times.LONGEST) <= 0 ? duration : null;
    } catch (DateTimeParseException | ArithmeticException e) {
      return null;
    }
  }

  private static @Nullable UUID id(String text) {
    try {
      UUID id = UUID.fromString(text);
      // Java also reads short forms, which nobody means.
      return id.toString().equalsIgnoreCase(text) ? id : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private @Nullable Map<String, String> texts(String path, JsonNode given) {
    if (!given.isObject()) {
      return null;
    }
    Map<String, String> texts = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : given.properties()) {
      if (entry.getValue().isString()) {
        texts.put(entry.getKey(), entry.getValue().stringValue());
      } else {
        error(
            path + "." + entry.getKey(),
            "must be text, got " + Expectation.shown(entry.getValue()));
      }
    }
    return texts;
  }

  private @Nullable List<UUID> ids(String path, Field field, JsonNode given) {
    if (!given.isArray() || given.size() < field.min() || given.size() > field.max()) {
      return null;
    }
    List<UUID> ids = new ArrayList<>();
    for (JsonNode item : given) {
      @Nullable UUID id = item.isString() ? id(item.stringValue()) : null;
      if (id == null) {
        error(path + "[" + ids.size() + "]", "must be a UUID, got " + Expectation.shown(item));
        return ids;
      }
      ids.add(id);
    }
    return ids;
  }

  private @Nullable List<String> words(String path, JsonNode given) {
    if (!given.isArray() || given.size() > ITEMS_MAX) {
      return null;
    }
    List<String> words = new ArrayList<>();
    for (JsonNode item : given) {
      if (!item.isString()) {
        error(path + "[" + words.size() + "]", "must be text, got " + Expectation.shown(item));
        return words;
      }
      words.add(item.stringValue());
    }
    return words;
  }

  private @Nullable List<Values> list(String path, Field field, JsonNode given) {
    if (!given.isArray() || given.size() < field.min() || given.size() > field.max()) {
      return null;
    }
    List<Values> items = new ArrayList<>();
    for (JsonNode item : given) {
      String place = path + "[" + items.size() + "]";
      if (!item.isObject()) {
        error(place, "must be an object, got " + Expectation.shown(item));
        return items;
      }
      items.add(object(place + ".", item, field.of()));
    }
    return items;
  }

  private void error(String path, String message) {
    if (errors.size() < ERRORS_MAX) {
      errors.add(new FieldError(Expectation.cut(path, NAME_MAX), message));
    }
  }
}
