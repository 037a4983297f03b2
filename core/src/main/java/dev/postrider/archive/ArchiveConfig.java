package dev.postrider.archive;

import dev.postrider.error.RefusedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What is archived, and in files of which size. Immutable.
 *
 * @param retention messages older than this, by the time in their ids, are archived; at least two
 *     days, since enqueue takes ids of up to a day ago
 * @param messagesPerFile the most that one file holds
 */
public record ArchiveConfig(Duration retention, int messagesPerFile) {
  private static final Duration LEAST = Duration.ofDays(2);

  public ArchiveConfig {
    List<String> problems = new ArrayList<>();
    if (retention.compareTo(LEAST) < 0) {
      problems.add("retention must be at least 2 days, got " + retention);
    }
    if (messagesPerFile < 1 || messagesPerFile > 1_000_000) {
      problems.add("messagesPerFile must be from 1 to 1000000, got " + messagesPerFile);
    }
    if (!problems.isEmpty()) {
      throw new RefusedException(String.join("; ", problems));
    }
  }

  public static ArchiveConfig of(Duration retention) {
    return new ArchiveConfig(retention, 100_000);
  }
}
