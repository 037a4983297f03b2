package dev.postrider.server.api;

import dev.postrider.access.Scope;
import dev.postrider.internal.protocol.SubscriptionName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The conditions that searches, replays and acts on many have in common. */
public final class Conditions {
  private static final String DEFAULT = "default";

  /** Answers name the default one with an empty text, so that is understood as well. */
  public static final Field SUBSCRIPTION =
      Field.text("subscription", "Only in this subscription; default is the one without a name")
          .between(0, 100);

  /** By which messages are found. */
  public static final List<Field> MESSAGES =
      List.of(
          Field.text("namespace", "Only of this namespace"),
          Field.text("topic", "Only of this topic"),
          Field.text("key", "Only of this ordering key; needs the namespace"),
          Field.text("tenant", "Only of this tenant"),
          Field.text("aggregate_type", "Only of this type of aggregate"),
          Field.text("aggregate_id", "Only of this aggregate; needs the type"),
          Field.text("event_type", "Only of this type of event"),
          Field.of("from", Kind.TIME, "At this time or later"),
          Field.of("to", Kind.TIME, "Before this time"));

  /** By which messages are replayed. */
  public static final List<Field> REPLAYS =
      with(
          MESSAGES,
          new Field(
              SUBSCRIPTION.name(),
              SUBSCRIPTION.kind(),
              "Only into this subscription, also what it never had; needs namespace and topic",
              false,
              SUBSCRIPTION.min(),
              SUBSCRIPTION.max(),
              List.of(),
              List.of()));

  /** By which dead letters are found; times are those of death. */
  public static final List<Field> DEAD =
      with(
          MESSAGES,
          SUBSCRIPTION,
          Field.text("code", "Only with this code of the last attempt"),
          Field.text(
              "fingerprint", "Only with this kind of error, as a group of dead letters names it"),
          Field.of("blocking", Kind.BOOLEAN, "Only those that their key waits for"),
          Field.choice("resolution", "Those that were discarded instead", "discarded"));

  private Conditions() {}

  /** The name as the core has it: empty for the default subscription. */
  public static String subscription(String given) {
    return SubscriptionName.of(given);
  }

  public static List<Field> with(List<Field> fields, Field... more) {
    List<Field> all = new ArrayList<>(fields);
    all.addAll(List.of(more));
    return List.copyOf(all);
  }

  /** What was asked for. */
  public static Map<String, String> of(Values values, List<Field> fields) {
    Map<String, String> conditions = values.conditions(fields);
    conditions.computeIfPresent(SUBSCRIPTION.name(), (n, name) -> name.isEmpty() ? DEFAULT : name);
    return conditions;
  }

  /** What was asked for, within what the caller may see. */
  public static Map<String, String> within(Scope scope, Values values, List<Field> fields) {
    Map<String, String> conditions = of(values, fields);
    limit(conditions, "tenant", scope.tenant());
    limit(conditions, "namespace", scope.namespace());
    limit(conditions, scope.topics());
    return conditions;
  }

  private static void limit(Map<String, String> conditions, List<String> topics) {
    if (topics.size() == 1) {
      limit(conditions, "topic", topics.get(0));
    } else if (!topics.isEmpty() && !topics.contains(conditions.getOrDefault("topic", ""))) {
      throw Problem.forbidden(
              "the token is limited to the topics %s; give one of them as topic"
                  .formatted(String.join(", ", topics)))
          .toException();
    }
  }

  private static void limit(Map<String, String> conditions, String name, @Nullable String only) {
    if (only == null) {
      return;
    }
    @Nullable String asked = conditions.putIfAbsent(name, only);
    if (asked != null && !Objects.equals(asked, only)) {
      throw Problem.forbidden("the token is limited to another " + name).toException();
    }
  }
}
