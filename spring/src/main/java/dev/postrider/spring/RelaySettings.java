package dev.postrider.spring;

import dev.postrider.message.Backoff;
import dev.postrider.message.RetryPolicy;
import dev.postrider.relay.RelayConfig;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/** Makes the engine's settings of the properties. */
final class RelaySettings {
  private RelaySettings() {}

  static RelayConfig relay(PostriderProperties.Relay settings) {
    return new RelayConfig(
        Objects.requireNonNullElse(settings.name(), RelayConfig.defaults().name()),
        settings.batchSize(),
        settings.carriers(),
        settings.pollInterval(),
        settings.lease(),
        settings.reapInterval(),
        settings.statementTimeout(),
        settings.shutdownTimeout(),
        settings.listen(),
        settings.partitionsAhead());
  }

  /** The policy, with the settings that are given in place of its own. */
  static RetryPolicy retry(RetryPolicy usual, PostriderProperties.Retry settings) {
    Backoff backoff = usual.backoff();
    return new RetryPolicy(
        new Backoff(
            Objects.requireNonNullElse(settings.backoffBase(), backoff.base()),
            Objects.requireNonNullElse(settings.backoffMax(), backoff.max()),
            Objects.requireNonNullElse(settings.backoffJitter(), backoff.jitter())),
        Objects.requireNonNullElse(settings.maxAttempts(), usual.maxAttempts()),
        Objects.requireNonNullElse(settings.onDead(), usual.onDead()));
  }

  static RetentionConfig retention(PostriderProperties.Retention settings) {
    if (!settings.enabled()) {
      return RetentionConfig.off();
    }
    RetentionConfig config = RetentionConfig.defaults().withInterval(settings.interval());
    Map<RetentionTask, @Nullable String> periods = new EnumMap<>(RetentionTask.class);
    periods.put(RetentionTask.MESSAGES, settings.messages());
    periods.put(RetentionTask.DEDUPE_KEYS, settings.dedupeKeys());
    periods.put(RetentionTask.INBOX, settings.inbox());
    periods.put(RetentionTask.STREAM, settings.stream());
    periods.put(RetentionTask.DEAD_LETTERS, settings.deadLetters());
    periods.put(RetentionTask.AUDIT, settings.audit());
    periods.put(RetentionTask.REPLAY_JOBS, settings.replayJobs());
    periods.put(RetentionTask.WORKERS, settings.workers());
    periods.put(RetentionTask.DELIVERED_CONTENT, settings.deliveredContent());
    periods.put(RetentionTask.ORDERING_KEYS, settings.orderingKeys());
    for (Map.Entry<RetentionTask, @Nullable String> entry : periods.entrySet()) {
      String period = entry.getValue();
      if (period != null) {
        config =
            period.equals("never")
                ? config.never(entry.getKey())
                : config.withPeriod(entry.getKey(), period(entry.getKey(), period));
      }
    }
    return config;
  }

  private static Duration period(RetentionTask task, String text) {
    try {
      return DurationStyle.detectAndParse(text);
    } catch (IllegalArgumentException e) {
      String key = "postrider.retention." + task.name().toLowerCase(Locale.ROOT).replace('_', '-');
      throw new StartException(
          "%s is \"%s\".".formatted(key, text), "Set it to a period such as 60d, or to never.", e);
    }
  }
}
