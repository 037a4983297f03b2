package dev.postrider.deadletter;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.text.Json;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which dead letters are meant: those that meet every condition, and unless {@link #discarded} is
 * asked for only unresolved ones. Immutable.
 */
public final class DeadLetterFilter {
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
          "code",
          "from",
          "to",
          "blocking",
          "resolution");

  private final Map<String, String> conditions;

  private DeadLetterFilter(Map<String, String> conditions) {
    this.conditions = conditions;
  }

  /** Every unresolved dead letter. */
  public static DeadLetterFilter all() {
    return new DeadLetterFilter(Map.of());
  }

  /** Conditions by name, as they come from a command line or a request. */
  public static DeadLetterFilter of(Map<String, String> conditions) {
    DeadLetterFilter filter = all();
    for (Map.Entry<String, String> condition : conditions.entrySet()) {
      filter = filter.with(condition.getKey(), condition.getValue());
    }
    return filter;
  }

  public DeadLetterFilter namespace(String namespace) {
    return with("namespace", namespace);
  }

  public DeadLetterFilter topic(String topic) {
    return with("topic", topic);
  }

  /** A key counts within its namespace only. */
  public DeadLetterFilter key(String namespace, String key) {
    return with("namespace", namespace).with("key", key);
  }

  public DeadLetterFilter tenant(String tenant) {
    return with("tenant", tenant);
  }

  public DeadLetterFilter aggregateType(String type) {
    return with("aggregate_type", type);
  }

  public DeadLetterFilter eventType(String type) {
    return with("event_type", type);
  }

  /** The error code of the last attempt. */
  public DeadLetterFilter code(String code) {
    return with("code", code);
  }

  /** Died at this instant or later. */
  public DeadLetterFilter diedFrom(Instant from) {
    return with("from", from.toString());
  }

  /** Died before this instant. */
  public DeadLetterFilter diedBefore(Instant to) {
    return with("to", to.toString());
  }

  /** Only those that their key waits for. */
  public DeadLetterFilter blockingOnly() {
    return with("blocking", "true");
  }

  /** Those that were discarded, instead of the unresolved: to look at, or to requeue after all. */
  public DeadLetterFilter discarded() {
    return with("resolution", "discarded");
  }

  private DeadLetterFilter with(String name, String value) {
    if (!NAMES.contains(name)) {
      throw new RefusedException(
          "unknown condition '" + name + "'; known are " + String.join(", ", NAMES));
    }
    Map<String, String> more = new TreeMap<>(conditions);
    more.put(name, RefusedException.ifBlank(name, value));
    return new DeadLetterFilter(more);
  }

  /** The form in which the database and the audit know it. */
  public String json() {
    return Json.write(conditions);
  }

  @Override
  public String toString() {
    return json();
  }
}
