package dev.postrider.cli.command;

import dev.postrider.deadletter.DeadLetterFilter;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Conditions on dead letters. Filled by picocli. */
final class DeadFilterOptions {
  @Mixin FilterOptions filter = new FilterOptions();

  @Option(
      names = "--code",
      paramLabel = "TEXT",
      description = "Only those whose last attempt failed with this code.")
  @Nullable String code;

  @Option(
      names = "--fingerprint",
      paramLabel = "TEXT",
      description = "Only this kind of error, as the console names it.")
  @Nullable String fingerprint;

  @Option(
      names = "--subscription",
      paramLabel = "TEXT",
      description = "Only this subscription; default is the one without a name.")
  @Nullable String subscription;

  @Option(names = "--blocking", description = "Only those that block their key.")
  boolean blocking;

  @Option(names = "--discarded", description = "The discarded ones instead of the open ones.")
  boolean discarded;

  Map<String, String> conditions(PostriderCommand command) {
    Map<String, String> conditions = filter.conditions(command);
    if (code != null) {
      conditions.put("code", code);
    }
    if (fingerprint != null) {
      conditions.put("fingerprint", fingerprint);
    }
    if (subscription != null) {
      conditions.put("subscription", subscription);
    }
    if (blocking) {
      conditions.put("blocking", "true");
    }
    if (discarded) {
      conditions.put("resolution", "discarded");
    }
    return conditions;
  }

  DeadLetterFilter filter(PostriderCommand command) {
    return DeadLetterFilter.of(conditions(command));
  }
}
