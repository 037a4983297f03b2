package dev.postrider.retention;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.ArchiveStorage;
import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How long things are kept. Immutable.
 *
 * <p>The database has the last word: it refuses periods below {@code engine.least_retention}, an
 * hour, and for the audit {@code engine.least_audit_retention}, 30 days.
 *
 * @param interval how often a relay looks whether a task is due
 * @param periods the retention of each task; what has none is kept for ever
 * @param archive where messages go before they are removed, with their retention; null: they are
 *     only removed
 */
public record RetentionConfig(
    Duration interval, Map<RetentionTask, Duration> periods, @Nullable Archiving archive) {
  private static final Duration LEAST = Duration.ofSeconds(1);
  private static final Duration MOST = Duration.ofDays(36_500);
  private static final Duration INTERVAL_MOST = Duration.ofDays(1);

  public RetentionConfig {
    List<String> wrong = new ArrayList<>();
    if (interval.compareTo(LEAST) < 0 || interval.compareTo(INTERVAL_MOST) > 0) {
      wrong.add("expected interval 1 s..1 day, got " + interval);
    }
    EnumMap<RetentionTask, Duration> copy = new EnumMap<>(RetentionTask.class);
    copy.putAll(periods);
    if (archive != null) {
      copy.put(RetentionTask.MESSAGES, archive.config().retention());
    }
    copy.forEach(
        (task, period) -> {
          if (period.compareTo(LEAST) < 0 || period.compareTo(MOST) > 0) {
            wrong.add("expected " + task.label() + " 1 s..36500 days, got " + period);
          }
        });
    if (!wrong.isEmpty()) {
      throw new PostriderException("retention: " + String.join("; ", wrong));
    }
    periods = Collections.unmodifiableMap(copy);
  }

  /** Every task with its usual period, once an hour, without an archive. */
  public static RetentionConfig defaults() {
    EnumMap<RetentionTask, Duration> periods = new EnumMap<>(RetentionTask.class);
    for (RetentionTask task : RetentionTask.values()) {
      periods.put(task, task.defaultPeriod());
    }
    return new RetentionConfig(Duration.ofHours(1), periods, null);
  }

  /** Everything is kept for ever. */
  public static RetentionConfig off() {
    return new RetentionConfig(Duration.ofHours(1), Map.of(), null);
  }

  public RetentionConfig withInterval(Duration value) {
    return new RetentionConfig(value, periods, archive);
  }

  public RetentionConfig withPeriod(RetentionTask task, Duration period) {
    EnumMap<RetentionTask, Duration> copy = copy();
    copy.put(task, period);
    return new RetentionConfig(interval, copy, archive);
  }

  /** Keeps the rows of a task for ever. For messages this also means that none is archived. */
  public RetentionConfig never(RetentionTask task) {
    EnumMap<RetentionTask, Duration> copy = copy();
    copy.remove(task);
    return new RetentionConfig(interval, copy, task == RetentionTask.MESSAGES ? null : archive);
  }

  /** Archives messages before they are removed; its retention is that of the messages. */
  public RetentionConfig withArchive(ArchiveConfig config, ArchiveStorage.Opener storage) {
    return new RetentionConfig(interval, periods, new Archiving(config, storage));
  }

  /**
   * Where messages go before they are removed.
   *
   * @param storage opened for each run, and closed after it
   */
  public record Archiving(ArchiveConfig config, ArchiveStorage.Opener storage) {}

  private EnumMap<RetentionTask, Duration> copy() {
    EnumMap<RetentionTask, Duration> copy = new EnumMap<>(RetentionTask.class);
    copy.putAll(periods);
    return copy;
  }
}
