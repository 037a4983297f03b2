package dev.postrider.server.api;

import java.util.List;
import java.util.Map;

/**
 * One value that an endpoint takes, from path, query or body. Immutable.
 *
 * @param min smallest number, or fewest characters or items
 * @param max largest number, or most characters or items
 * @param choices the only values allowed, if any are listed
 * @param of the fields of an object, or of each object in a list
 */
public record Field(
    String name,
    Kind kind,
    String description,
    boolean required,
    long min,
    long max,
    List<String> choices,
    List<Field> of) {
  private static final int TEXT_MAX = 4096;

  /** The limits that enqueue has for them, whatever the endpoint. */
  private static final Map<String, Integer> NAMES_MAX =
      Map.of(
          "namespace", 100,
          "topic", 200,
          "key", 400,
          "dedupe_key", 400,
          "tenant", 200,
          "aggregate_type", 200,
          "aggregate_id", 200,
          "event_type", 200,
          "content_type", 200);

  public Field {
    choices = List.copyOf(choices);
    of = List.copyOf(of);
  }

  public static Field of(String name, Kind kind, String description) {
    long max = kind == Kind.TEXT || kind == Kind.WORDS ? TEXT_MAX : Long.MAX_VALUE;
    long min = kind == Kind.TEXT ? 1 : kind == Kind.INTEGER ? Long.MIN_VALUE : 0;
    return new Field(name, kind, description, false, min, max, List.of(), List.of());
  }

  public static Field text(String name, String description) {
    return of(name, Kind.TEXT, description).between(1, NAMES_MAX.getOrDefault(name, TEXT_MAX));
  }

  public static Field choice(String name, String description, String... choices) {
    Field text = text(name, description);
    return new Field(
        name, Kind.TEXT, description, false, text.min, text.max, List.of(choices), List.of());
  }

  public static Field object(String name, String description, List<Field> fields) {
    return new Field(name, Kind.OBJECT, description, false, 0, Long.MAX_VALUE, List.of(), fields);
  }

  public static Field list(String name, String description, List<Field> fields) {
    return new Field(name, Kind.LIST, description, false, 0, Long.MAX_VALUE, List.of(), fields);
  }

  public Field mandatory() {
    return new Field(name, kind, description, true, min, max, choices, of);
  }

  public Field between(long least, long most) {
    return new Field(name, kind, description, required, least, most, choices, of);
  }
}
