package dev.postrider.internal.stream;

import dev.postrider.error.RefusedException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Which events are meant: those that meet every condition. An aggregate's id goes with its type, a
 * topic with its namespace. Immutable.
 *
 * @param conditions wanted values by {@code tenant}, {@code namespace}, {@code topic}, {@code
 *     aggregate_type}, {@code aggregate_id}, {@code event_type}
 */
public record StreamFilter(Map<String, String> conditions) {
  /** The names of the conditions. */
  public static final Set<String> NAMES =
      Set.of("tenant", "namespace", "topic", "aggregate_type", "aggregate_id", "event_type");

  /** Every event. */
  public static final StreamFilter ALL = new StreamFilter(Map.of());

  public StreamFilter {
    conditions = Map.copyOf(conditions);
    conditions.forEach(StreamFilter::check);
    both(conditions, "topic", "namespace");
    both(conditions, "aggregate_id", "aggregate_type");
  }

  private static void check(String name, String value) {
    if (!NAMES.contains(name)) {
      throw new RefusedException(
          "unknown condition '"
              + name
              + "'; known are "
              + String.join(", ", NAMES.stream().sorted().toList()));
    }
    RefusedException.ifBlank(name, value);
  }

  private static void both(Map<String, String> conditions, String name, String other) {
    if (conditions.containsKey(name) && !conditions.containsKey(other)) {
      throw new RefusedException(name + " is given without " + other + "; give both");
    }
  }

  /** The same with one more condition. */
  public StreamFilter with(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(conditions);
    more.put(name, value);
    return new StreamFilter(more);
  }

  /** Whether the event meets every condition. */
  public boolean matches(StreamEvent event) {
    for (Map.Entry<String, String> condition : conditions.entrySet()) {
      if (!Objects.equals(event.value(condition.getKey()), condition.getValue())) {
        return false;
      }
    }
    return true;
  }
}
