package dev.postrider.server.console;

import dev.postrider.server.api.JsonText;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The browsers that watch. Keeps the last outcomes for those whose stream has ended and that open
 * the next one: the number of an event is about its time in milliseconds, so another server knows
 * what came later, too. Thread-safe; nothing here waits.
 */
final class Viewers {
  /** Who comes back later than that has missed something. */
  static final Duration KEPT_FOR = Duration.ofSeconds(15);

  static final int KEPT_MAX = 1000;

  private final LongSupplier clockMillis;
  private final Set<Viewer> all = ConcurrentHashMap.newKeySet();
  private final Deque<Sent> kept = new ArrayDeque<>();
  private int keptOutcomes;
  private long number;
  private volatile long watchedMillis;

  private record Sent(long number, List<LiveEvent.Outcome> outcomes, int more) {}

  Viewers(LongSupplier clockMillis) {
    this.clockMillis = clockMillis;
  }

  /** Whether somebody watches, or has just stopped and may come back. */
  boolean watched() {
    return !all.isEmpty() || clockMillis.getAsLong() - watchedMillis < KEPT_FOR.toMillis();
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  void tick() {
    all.forEach(Viewer::tick);
  }

  void end() {
    all.forEach(Viewer::end);
  }

  /** Gives it what it has missed, and the sample if there is one yet. */
  synchronized void join(Viewer viewer, @Nullable LiveEvent sample) {
    viewer.offer("retry: 300\n\n".getBytes(StandardCharsets.US_ASCII));
    @Nullable LiveEvent missed = viewer.after() == 0 ? null : outcomesAfter(viewer.after());
    if (missed != null) {
      viewer.offer(framed(kept.getLast().number, missed));
    }
    if (sample != null) {
      viewer.offer(framed(next(), sample));
    }
    all.add(viewer);
  }

  void leave(Viewer viewer) {
    watchedMillis = clockMillis.getAsLong();
    all.remove(viewer);
  }

  /** What became of messages. */
  synchronized void outcomes(LiveEvent event) {
    List<LiveEvent.Outcome> outcomes = event.outcomesOrNone();
    long now = next();
    kept.add(new Sent(now, outcomes, event.moreOrNone()));
    keptOutcomes += outcomes.size();
    while (keptOutcomes > KEPT_MAX || kept.getFirst().number < now - KEPT_FOR.toMillis()) {
      keptOutcomes -= kept.remove().outcomes.size();
    }
    byte[] bytes = framed(now, event);
    all.forEach(viewer -> viewer.offer(bytes));
  }

  /**
   * A sample for all.
   *
   * @param late the same for one that has no points yet
   */
  synchronized void sample(LiveEvent event, Function<Viewer, LiveEvent> late) {
    long now = next();
    byte[] bytes = framed(now, event);
    for (Viewer viewer : all) {
      viewer.offer(viewer.caughtUp() ? bytes : framed(now, late.apply(viewer)));
    }
  }

  private @Nullable LiveEvent outcomesAfter(long seen) {
    List<LiveEvent.Outcome> missed = new ArrayList<>();
    int more = 0;
    for (Sent sent : kept) {
      if (sent.number > seen) {
        missed.addAll(sent.outcomes);
        more += sent.more;
      }
    }
    return missed.isEmpty()
        ? null
        : LiveEvent.outcomes(missed.get(missed.size() - 1).at(), missed, more);
  }

  private long next() {
    number = Math.max(number + 1, clockMillis.getAsLong());
    return number;
  }

  private static byte[] framed(long number, LiveEvent event) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(("id: " + number + "\ndata: ").getBytes(StandardCharsets.US_ASCII));
    out.writeBytes(JsonText.bytes(event, false));
    out.writeBytes("\n\n".getBytes(StandardCharsets.US_ASCII));
    return out.toByteArray();
  }
}
