package dev.postrider.operations;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.text.Json;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which messages are meant: those that meet every condition. An aggregate's id goes with its type,
 * a key with its namespace; times are those in the ids, the end excluded. Immutable.
 */
public record MessageFilter(Map<String, String> conditions) {
  private static final Set<String> NAMES =
      Set.of(
          "namespace",
          "topic",
          "key",
          "tenant",
          "aggregate_type",
          "aggregate_id",
          "event_type",
          "from",
          "to");

  /** Every message. */
  public static final MessageFilter ALL = new MessageFilter(Map.of());

  public MessageFilter {
    conditions = Map.copyOf(conditions);
    for (Map.Entry<String, String> condition : conditions.entrySet()) {
      if (!NAMES.contains(condition.getKey())) {
        throw new RefusedException(
            "unknown condition '"
                + condition.getKey()
                + "'; known are "
                + String.join(", ", NAMES.stream().sorted().toList()));
      }
      RefusedException.ifBlank(condition.getKey(), condition.getValue());
    }
  }

  /** The same with one more condition. */
  public MessageFilter with(String name, String value) {
    Map<String, String> more = new TreeMap<>(conditions);
    more.put(name, value);
    return new MessageFilter(more);
  }

  String json() {
    return Json.write(conditions);
  }
}
