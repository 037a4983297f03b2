package dev.postrider.server.openapi;

import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON schemas of fields. */
final class Schemas {
  private Schemas() {}

  static Map<String, Object> object(List<Field> fields) {
    Map<String, Object> properties = new LinkedHashMap<>();
    for (Field field : fields) {
      Map<String, Object> schema = new LinkedHashMap<>(of(field));
      schema.put("description", field.description());
      properties.put(field.name(), schema);
    }
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("type", "object");
    object.put("required", fields.stream().filter(Field::required).map(Field::name).toList());
    object.put("properties", properties);
    object.put("additionalProperties", false);
    return object;
  }

  static Map<String, Object> of(Field field) {
    return switch (field.kind()) {
      case TEXT ->
          field.choices().isEmpty()
              ? bounded("string", field, "minLength", "maxLength")
              : Ordered.of("type", "string", "enum", field.choices());
      case INTEGER -> integer(field);
      case NUMBER -> Ordered.of("type", "number", "exclusiveMinimum", 0);
      case BOOLEAN -> Ordered.of("type", "boolean");
      case TIME -> Ordered.of("type", "string", "format", "date-time");
      case DURATION -> Ordered.of("type", "string", "format", "duration");
      case ID -> Ordered.of("type", "string", "format", "uuid");
      case JSON -> Map.of();
      case TEXTS ->
          Ordered.of("type", "object", "additionalProperties", Ordered.of("type", "string"));
      case WORDS -> items(field, Ordered.of("type", "string"));
      case IDS -> items(field, Ordered.of("type", "string", "format", "uuid"));
      case OBJECT -> object(field.of());
      case LIST -> items(field, object(field.of()));
    };
  }

  /** Without a format, generated clients take 32 bits. */
  private static Map<String, Object> integer(Field field) {
    Map<String, Object> schema = bounded("integer", field, "minimum", "maximum");
    schema.put("format", field.max() > Integer.MAX_VALUE ? "int64" : "int32");
    return schema;
  }

  private static Map<String, Object> items(Field field, Map<String, Object> each) {
    Map<String, Object> array =
        field.kind() == Kind.WORDS
            ? new LinkedHashMap<>(Ordered.of("type", "array"))
            : bounded("array", field, "minItems", "maxItems");
    array.put("items", each);
    return array;
  }

  private static Map<String, Object> bounded(String type, Field field, String min, String max) {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", type);
    if (field.min() > Long.MIN_VALUE) {
      schema.put(min, field.min());
    }
    if (field.max() < Long.MAX_VALUE) {
      schema.put(max, field.max());
    }
    return schema;
  }
}
