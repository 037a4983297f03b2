package dev.postrider.bench.soak;

import dev.postrider.internal.retention.RetentionState;
import dev.postrider.retention.RetentionTask;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares the last third of a run with the one before it. The first third warms up. The bounds are
 * generous: a leak of seconds of traffic is many times larger after minutes.
 */
final class Verdict {
  private static final double GROWTH = 1.5;

  private Verdict() {}

  /** What did not stay flat. */
  static List<String> of(List<Sample> samples) {
    int third = samples.size() / 3;
    List<Sample> middle = samples.subList(third, 2 * third);
    List<Sample> last = samples.subList(2 * third, samples.size());
    List<String> problems = new ArrayList<>();
    Set<String> names = new TreeSet<>(last.get(0).values().keySet());
    names.removeAll(Set.of("seconds", "messages", Sample.HELD, Sample.OPEN));
    for (String name : names) {
      long before = median(middle, name);
      long after = median(last, name);
      if (after > before * GROWTH + slack(name)) {
        problems.add("%s grew from %d to %d (medians)".formatted(name, before, after));
      }
    }
    problems.addAll(ofConnections(middle, last));
    long sentBefore = median(middle, "messages");
    long sentAfter = median(last, "messages");
    if (sentAfter < sentBefore / GROWTH) {
      problems.add("fewer messages: %d after %d".formatted(sentAfter, sentBefore));
    }
    return problems;
  }

  /** Without slack: what is held in every look of a third is not traffic. */
  private static List<String> ofConnections(List<Sample> middle, List<Sample> last) {
    List<String> problems = new ArrayList<>();
    long before = fewest(middle, Sample.HELD);
    long after = fewest(last, Sample.HELD);
    if (after > before) {
      problems.add("held connections grew from %d to %d (fewest)".formatted(before, after));
    }
    long open = fewest(last, Sample.OPEN);
    if (open > 0) {
      problems.add("%d transactions stay open".formatted(open));
    }
    return problems;
  }

  /** Which tasks did not do what they are there for. A run that removed nothing proves nothing. */
  static List<String> ofRetention(List<RetentionState> states) {
    List<String> problems = new ArrayList<>();
    for (RetentionTask task : RetentionTask.values()) {
      Optional<RetentionState> found =
          states.stream().filter(state -> state.task().equals(task.label())).findFirst();
      String name = "retention of " + task.label();
      if (found.isEmpty()) {
        problems.add(name + " never ran");
      } else if (found.get().error() != null) {
        problems.add(name + " failed: " + found.get().error());
      } else if (found.get().removed() == 0) {
        problems.add(name + " removed nothing");
      }
    }
    return problems;
  }

  private static long slack(String name) {
    if (name.equals(Sample.HEAP)) {
      return 16 * 1024;
    } else if (name.equals(Sample.OLD_DAYS) || name.equals(Sample.TO_ARCHIVE)) {
      return OldDays.LEFT_MAX;
    }
    return Sample.isTable(name) ? 1024 : 20_000;
  }

  private static long fewest(List<Sample> samples, String name) {
    return samples.stream().mapToLong(each -> each.get(name)).min().orElse(0);
  }

  private static long median(List<Sample> samples, String name) {
    List<Long> values = new ArrayList<>(samples.stream().map(each -> each.get(name)).toList());
    values.sort(null);
    return values.get(values.size() / 2);
  }
}
