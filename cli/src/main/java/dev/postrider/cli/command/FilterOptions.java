package dev.postrider.cli.command;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Conditions on messages. Filled by picocli. */
final class FilterOptions {
  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "TEXT",
      description = "Of this namespace.")
  @Nullable String namespace;

  @Option(
      names = {"-t", "--topic"},
      paramLabel = "TEXT",
      description = "Of this topic.")
  @Nullable String topic;

  @Option(
      names = {"-k", "--key"},
      paramLabel = "TEXT",
      description = "Only this ordering key; requires --namespace.")
  @Nullable String key;

  @Option(names = "--tenant", paramLabel = "TEXT", description = "Of this tenant.")
  @Nullable String tenant;

  @Option(
      names = "--aggregate-type",
      paramLabel = "TEXT",
      description = "Only this aggregate type.")
  @Nullable String aggregateType;

  @Option(
      names = "--aggregate-id",
      paramLabel = "TEXT",
      description = "Only this aggregate; requires --aggregate-type.")
  @Nullable String aggregateId;

  @Option(names = "--event-type", paramLabel = "TEXT", description = "Of this event type.")
  @Nullable String eventType;

  @Option(
      names = "--from",
      paramLabel = "TIME",
      description = "Start time: 2026-11-01T00:00:00Z, or an age such as 2h.")
  @Nullable String from;

  @Option(names = "--to", paramLabel = "TIME", description = "Before this time.")
  @Nullable String to;

  /** The conditions by the names that the core knows them by. */
  Map<String, String> conditions(PostriderCommand command) {
    if (key != null && namespace == null) {
      throw command.usage("--key goes with --namespace: a key is unique only within its namespace");
    } else if (aggregateId != null && aggregateType == null) {
      throw command.usage("--aggregate-id goes with --aggregate-type");
    }
    Map<String, String> conditions = new TreeMap<>();
    put(conditions, "namespace", namespace);
    put(conditions, "topic", topic);
    put(conditions, "key", key);
    put(conditions, "tenant", tenant);
    put(conditions, "aggregate_type", aggregateType);
    put(conditions, "aggregate_id", aggregateId);
    put(conditions, "event_type", eventType);
    put(conditions, "from", from == null ? null : time(command, "--from", from));
    put(conditions, "to", to == null ? null : time(command, "--to", to));
    return conditions;
  }

  private static String time(PostriderCommand command, String option, String text) {
    return Options.time(command, option, text).toString();
  }

  private static void put(Map<String, String> conditions, String name, @Nullable String value) {
    if (value != null) {
      conditions.put(name, value);
    }
  }
}
