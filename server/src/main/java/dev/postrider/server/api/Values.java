package dev.postrider.server.api;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Checked values by their names; what was not given is null, or the given default. Immutable. */
public final class Values {
  private final Map<String, Object> values;

  Values(Map<String, Object> values) {
    this.values = Map.copyOf(values);
  }

  public boolean has(String name) {
    return values.containsKey(name);
  }

  public @Nullable String text(String name) {
    return (String) values.get(name);
  }

  /** A value that was declared mandatory. */
  public String textOf(String name) {
    return Objects.requireNonNull(text(name));
  }

  public int integer(String name, int otherwise) {
    @Nullable Long value = (Long) values.get(name);
    return value == null ? otherwise : Math.toIntExact(value);
  }

  public @Nullable Long number(String name) {
    return (Long) values.get(name);
  }

  public @Nullable Double decimal(String name) {
    return (Double) values.get(name);
  }

  public boolean flag(String name) {
    return Boolean.TRUE.equals(values.get(name));
  }

  public @Nullable Instant time(String name) {
    return (Instant) values.get(name);
  }

  public @Nullable Duration duration(String name) {
    return (Duration) values.get(name);
  }

  public @Nullable UUID id(String name) {
    return (UUID) values.get(name);
  }

  /** An id that was declared mandatory, or stands in the path. */
  public UUID idOf(String name) {
    return Objects.requireNonNull(id(name));
  }

  public @Nullable JsonNode json(String name) {
    return (JsonNode) values.get(name);
  }

  @SuppressWarnings("unchecked") // what Check puts there for this kind
  public Map<String, String> texts(String name) {
    return (Map<String, String>) values.getOrDefault(name, Map.of());
  }

  @SuppressWarnings("unchecked")
  public List<UUID> ids(String name) {
    return (List<UUID>) values.getOrDefault(name, List.of());
  }

  @SuppressWarnings("unchecked")
  public List<String> words(String name) {
    return (List<String>) values.getOrDefault(name, List.of());
  }

  public Values object(String name) {
    return (Values) values.getOrDefault(name, new Values(Map.of()));
  }

  @SuppressWarnings("unchecked")
  public List<Values> list(String name) {
    return (List<Values>) values.getOrDefault(name, List.of());
  }

  /** Those of the fields that were given, as text: the conditions of a filter. */
  public Map<String, String> conditions(List<Field> fields) {
    Map<String, String> conditions = new TreeMap<>();
    for (Field field : fields) {
      if (values.containsKey(field.name())) {
        conditions.put(field.name(), String.valueOf(values.get(field.name())));
      }
    }
    return conditions;
  }
}
