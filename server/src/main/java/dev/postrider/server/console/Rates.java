package dev.postrider.server.console;

import dev.postrider.internal.monitor.Attempt;
import dev.postrider.message.AttemptState;
import dev.postrider.observe.Backlog;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Counts outcomes and makes a point for the charts from time to time. Keeps the last half hour of
 * them. Rates are means of the last {@value #SMOOTHED} points: the statistics by which enqueued
 * messages are counted come in lumps of a second. Thread-safe.
 */
final class Rates {
  private static final Duration KEPT = Duration.ofMinutes(30);
  private static final int SMOOTHED = 3;
  private static final int LATENCIES_MAX = 4096;

  private final Deque<List<@Nullable Double>> points = new ArrayDeque<>();
  private final Deque<Interval> intervals = new ArrayDeque<>();
  private final Map<AttemptState, Double> counts = new EnumMap<>(AttemptState.class);
  private final int[] latencies = new int[LATENCIES_MAX];
  private int latencyCount;
  private double enqueued;
  private long lastTotal = -1;
  private @Nullable Instant last;

  private record Interval(
      double seconds, double enqueued, double delivered, double retried, double dead) {}

  /**
   * Attempts that are new.
   *
   * @param share of all that came: the others are assumed to be like these
   */
  synchronized void count(List<Attempt> attempts, double share) {
    for (Attempt attempt : attempts) {
      counts.merge(attempt.state(), 1 / share, Double::sum);
      @Nullable Integer latency = attempt.latencyMs();
      if (attempt.state() == AttemptState.DISPATCHED && latency != null) {
        latencies[latencyCount++ % LATENCIES_MAX] = latency;
      }
    }
  }

  /** Points from before this server was started, the oldest first. */
  synchronized void restore(List<List<@Nullable Double>> earlier) {
    for (int i = earlier.size() - 1; i >= 0; i--) {
      points.addFirst(earlier.get(i));
    }
  }

  /** Messages that were ever enqueued; less than before after a partition was dropped. */
  synchronized void enqueuedEver(long total) {
    enqueued += lastTotal < 0 ? 0 : Math.max(0, total - lastTotal);
    lastTotal = total;
  }

  /** Closes an interval and returns its point; the first call only begins one. */
  synchronized @Nullable List<@Nullable Double> point(Instant at, Backlog backlog) {
    @Nullable Instant before = last;
    if (before != null && at.toEpochMilli() - before.toEpochMilli() < 1000) {
      return null;
    }
    last = at;
    double seconds = before == null ? 0 : (at.toEpochMilli() - before.toEpochMilli()) / 1000.0;
    intervals.add(
        new Interval(
            seconds,
            enqueued,
            counts.getOrDefault(AttemptState.DISPATCHED, 0.0),
            counts.getOrDefault(AttemptState.RETRYABLE, 0.0),
            counts.getOrDefault(AttemptState.FAILED, 0.0)));
    if (intervals.size() > SMOOTHED) {
      intervals.remove();
    }
    List<@Nullable Double> point = new ArrayList<>();
    point.add((double) at.toEpochMilli());
    point.add(perSecond(interval -> interval.enqueued));
    point.add(perSecond(interval -> interval.delivered));
    point.add(perSecond(interval -> interval.retried));
    point.add(perSecond(interval -> interval.dead));
    point.add((double) backlog.pending());
    point.add(backlog.oldestAge().toMillis() / 1000.0);
    int[] sorted = Arrays.copyOf(latencies, Math.min(latencyCount, LATENCIES_MAX));
    Arrays.sort(sorted);
    point.add(percentile(sorted, 0.5));
    point.add(percentile(sorted, 0.99));
    enqueued = 0;
    counts.clear();
    latencyCount = 0;
    if (before != null) {
      points.add(point);
      while (time(points.element()) < at.toEpochMilli() - KEPT.toMillis()) {
        points.remove();
      }
      return point;
    }
    return null;
  }

  @FunctionalInterface
  private interface Part {
    double of(Interval interval);
  }

  private Double perSecond(Part part) {
    double seconds = intervals.stream().mapToDouble(Interval::seconds).sum();
    double sum = intervals.stream().mapToDouble(part::of).sum();
    return seconds == 0 ? 0.0 : Math.round(sum / seconds * 100) / 100.0;
  }

  private static @Nullable Double percentile(int[] sorted, double share) {
    return sorted.length == 0
        ? null
        : (double) sorted[(int) Math.min(sorted.length - 1L, Math.round(sorted.length * share))];
  }

  /** The points after a time, the oldest first. */
  synchronized List<List<@Nullable Double>> after(long millis) {
    List<List<@Nullable Double>> all = new ArrayList<>(points);
    int start =
        IntStream.range(0, all.size())
            .filter(i -> time(all.get(i)) > millis)
            .findFirst()
            .orElse(all.size());
    return all.subList(start, all.size());
  }

  private static double time(List<@Nullable Double> point) {
    @Nullable Double time = point.get(0);
    return time == null ? 0 : time;
  }
}
