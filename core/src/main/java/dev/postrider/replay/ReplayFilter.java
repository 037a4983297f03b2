package dev.postrider.replay;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.text.Json;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Which delivered messages are meant: those that meet every condition. Immutable. */
public final class ReplayFilter {
  private static final Set<String> NAMES =
      Set.of(
          "namespace",
          "topic",
          "subscription",
          "key",
          "tenant",
          "aggregate_type",
          "aggregate_id",
          "event_type",
          "from",
          "to");

  private final Map<String, String> conditions;
  private final @Nullable List<UUID> ids;

  private ReplayFilter(Map<String, String> conditions, @Nullable List<UUID> ids) {
    this.conditions = conditions;
    this.ids = ids;
  }

  /** Conditions by name, as they come from a command line or a request. */
  public static ReplayFilter of(Map<String, String> conditions) {
    ReplayFilter filter = new ReplayFilter(Map.of(), null);
    for (Map.Entry<String, String> condition : conditions.entrySet()) {
      filter = filter.with(condition.getKey(), condition.getValue());
    }
    return filter;
  }

  public static ReplayFilter ids(List<UUID> ids) {
    return new ReplayFilter(Map.of(), List.copyOf(ids));
  }

  /** Messages made in this time, by the time in their ids; the end is not included. */
  public static ReplayFilter between(Instant from, Instant to) {
    return of(Map.of("from", from.toString(), "to", to.toString()));
  }

  public static ReplayFilter namespace(String namespace) {
    return of(Map.of("namespace", namespace));
  }

  public ReplayFilter topic(String topic) {
    return with("topic", topic);
  }

  /** A key counts within its namespace only. */
  public static ReplayFilter key(String namespace, String key) {
    return of(Map.of("namespace", namespace, "key", key));
  }

  public static ReplayFilter aggregateType(String type) {
    return of(Map.of("aggregate_type", type));
  }

  public static ReplayFilter aggregate(String type, String id) {
    return of(Map.of("aggregate_type", type, "aggregate_id", id));
  }

  public static ReplayFilter tenant(String tenant) {
    return of(Map.of("tenant", tenant));
  }

  /** The same with one more condition. */
  public ReplayFilter with(String name, String value) {
    if (!NAMES.contains(name)) {
      throw new RefusedException(
          "unknown condition '" + name + "'; known are " + String.join(", ", NAMES));
    }
    Map<String, String> more = new TreeMap<>(conditions);
    more.put(name, RefusedException.ifBlank(name, value));
    return new ReplayFilter(more, ids);
  }

  String json() {
    return Json.write(conditions);
  }

  @Nullable List<UUID> ids() {
    return ids;
  }

  @Override
  public String toString() {
    return ids == null ? json() : ids.size() + " ids " + json();
  }
}
