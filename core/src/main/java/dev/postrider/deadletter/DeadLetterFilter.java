package dev.postrider.deadletter;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.text.Fingerprint;
import dev.postrider.internal.text.Json;
import dev.postrider.message.Route;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which dead letters are meant: those that meet every condition, and unless {@link #discarded} is
 * asked for only unresolved ones. Immutable.
 */
public final class DeadLetterFilter {
  private static final String FINGERPRINT = "fingerprint";
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
          FINGERPRINT,
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

  /** Only those with this kind of error, as groups of dead letters name it. */
  public DeadLetterFilter fingerprint(String fingerprint) {
    return with(FINGERPRINT, fingerprint);
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
    if (name.equals(FINGERPRINT) && !Fingerprint.isOne(value)) {
      throw new RefusedException(
          "fingerprint must be one of a group of dead letters, got '" + value + "'");
    }
    Map<String, String> more = new TreeMap<>(conditions);
    more.put(name, RefusedException.ifBlank(name, value));
    return new DeadLetterFilter(more);
  }

  /** Also the discarded ones, for when they are named one by one. */
  DeadLetterFilter any() {
    return with("resolution", "any");
  }

  /** The same, and died before this instant. */
  DeadLetterFilter noLaterThan(Instant end) {
    String to = conditions.get("to");
    return to != null && Instant.parse(to).isBefore(end) ? this : diedBefore(end);
  }

  /** The same, in one subscription of a topic. */
  DeadLetterFilter in(Route route) {
    return namespace(route.namespace())
        .topic(route.topic())
        .with("subscription", route.subscription().isEmpty() ? "default" : route.subscription());
  }

  /** Whether the texts of errors decide, which the database does not judge. */
  boolean byError() {
    return conditions.containsKey(FINGERPRINT);
  }

  /** Whether the error is of the kind that is meant. */
  boolean covers(DeadLetter letter) {
    String fingerprint = conditions.get(FINGERPRINT);
    return fingerprint == null || Fingerprint.matches(fingerprint, letter.error());
  }

  /** What the database looks for: everything but the kind of error. */
  String scanned() {
    Map<String, String> scanned = new TreeMap<>(conditions);
    scanned.remove(FINGERPRINT);
    return Json.write(scanned);
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
