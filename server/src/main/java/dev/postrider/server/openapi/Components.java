package dev.postrider.server.openapi;

import com.fasterxml.jackson.annotation.JsonRawValue;
import dev.postrider.server.api.JsonText;
import dev.postrider.server.api.Listing;
import dev.postrider.server.api.Page;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.jsonFormatVisitors.JsonFormatVisitorWrapper;
import tools.jackson.databind.jsonFormatVisitors.JsonObjectFormatVisitor;
import tools.jackson.databind.util.RawValue;

/**
 * Schemas of what goes out, made from the types that are written and by the mapper that writes
 * them. What is {@code @Nullable} may be absent. For one document.
 */
final class Components {
  /** Where the simple name says too little outside of its class. */
  private static final Map<String, String> NAMES =
      Map.of(
          "Entry", "AuditEntry",
          "Topic", "TopicBacklog",
          "Counted", "ReplayCount",
          "Interval", "EventCount",
          "Part", "HealthPart",
          "Changed", "PauseChange",
          "Revoked", "RevokedToken");

  private final Map<String, Object> schemas = new TreeMap<>();
  private final Map<String, JavaType> named = new LinkedHashMap<>();

  /** All that were referred to, by name. */
  Map<String, Object> schemas() {
    return schemas;
  }

  Map<String, Object> of(Type type) {
    JavaType java = JsonText.type(type);
    Class<?> raw = java.getRawClass();
    if (raw.isRecord() || raw.isSealed()) {
      return reference(java);
    } else if (java.isMapLikeType()) {
      return Ordered.of("type", "object", "additionalProperties", of(java.getContentType()));
    } else if (java.isContainerType()) {
      return Ordered.of("type", "array", "items", of(java.getContentType()));
    } else if (raw.isEnum()) {
      return Ordered.of("type", "string", "enum", constants(raw));
    }
    return scalar(raw);
  }

  private static Map<String, Object> scalar(Class<?> raw) {
    if (raw == Object.class || raw == RawValue.class) {
      return Map.of();
    } else if (raw == UUID.class) {
      return Ordered.of("type", "string", "format", "uuid");
    } else if (raw == Instant.class) {
      return Ordered.of("type", "string", "format", "date-time");
    } else if (raw == Duration.class) {
      return Ordered.of("type", "number", "format", "double");
    } else if (raw == boolean.class || raw == Boolean.class) {
      return Ordered.of("type", "boolean");
    } else if (raw == int.class || raw == Integer.class) {
      return Ordered.of("type", "integer", "format", "int32");
    } else if (raw == long.class || raw == Long.class) {
      return Ordered.of("type", "integer", "format", "int64");
    } else if (raw == double.class || raw == Double.class) {
      return Ordered.of("type", "number", "format", "double");
    } else if (raw == String.class) {
      return Ordered.of("type", "string");
    }
    throw new IllegalArgumentException("there is no schema for " + raw);
  }

  private static List<String> constants(Class<?> type) {
    return Arrays.stream(type.getEnumConstants())
        .map(constant -> JsonText.tree(constant).stringValue())
        .toList();
  }

  private Map<String, Object> reference(JavaType type) {
    String name = name(type);
    @Nullable JavaType other = named.putIfAbsent(name, type);
    if (other == null) {
      schemas.put(name, type.getRawClass().isSealed() ? oneOf(type) : object(type));
    } else if (!other.equals(type)) {
      throw new IllegalArgumentException(other + " and " + type + " are both called " + name);
    }
    return Ordered.of("$ref", "#/components/schemas/" + name);
  }

  private static String name(JavaType type) {
    if (type.hasRawClass(Page.class) || type.hasRawClass(Listing.class)) {
      String suffix = type.getRawClass().getSimpleName();
      return name(type.containedType(0)) + suffix;
    }
    String simple = type.getRawClass().getSimpleName();
    return NAMES.getOrDefault(simple, simple.replaceFirst("^Shown", ""));
  }

  private Map<String, Object> oneOf(JavaType type) {
    List<Object> each = new ArrayList<>();
    for (Class<?> one : type.getRawClass().getPermittedSubclasses()) {
      each.add(of(one));
    }
    return Ordered.of("oneOf", each);
  }

  private Map<String, Object> object(JavaType type) {
    Map<String, Object> properties = new LinkedHashMap<>();
    List<String> required = new ArrayList<>();
    boolean onStream = Arrays.stream(type.getRawClass().getInterfaces()).anyMatch(Class::isSealed);
    JsonText.describe(
        type,
        new JsonFormatVisitorWrapper.Base() {
          @Override
          public JsonObjectFormatVisitor expectObjectFormat(JavaType object) {
            return new JsonObjectFormatVisitor.Base(getContext()) {
              @Override
              public void property(BeanProperty property) {
                optionalProperty(property);
              }

              @Override
              public void optionalProperty(BeanProperty property) {
                boolean nullable = isNullable(property);
                Map<String, Object> schema = of(property);
                properties.put(property.getName(), nullable && onStream ? orNull(schema) : schema);
                if (!nullable) {
                  required.add(property.getName());
                }
              }
            };
          }
        });
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "object");
    if (!required.isEmpty()) {
      schema.put("required", required);
    }
    schema.put("properties", properties);
    return schema;
  }

  /** Lines of a stream also name what is null. */
  private static Map<String, Object> orNull(Map<String, Object> schema) {
    if (!schema.containsKey("type")) {
      return schema;
    }
    Map<String, Object> either = new LinkedHashMap<>(schema);
    either.put("type", List.of(String.valueOf(schema.get("type")), "null"));
    return either;
  }

  private Map<String, Object> of(BeanProperty property) {
    return property.getAnnotation(JsonRawValue.class) == null ? of(property.getType()) : Map.of();
  }

  private static boolean isNullable(BeanProperty property) {
    Member member = property.getMember().getMember();
    AnnotatedType type =
        member instanceof Method method
            ? method.getAnnotatedReturnType()
            : ((Field) member).getAnnotatedType();
    return type.isAnnotationPresent(Nullable.class);
  }
}
