package dev.postrider.internal.dispatch;

import dev.postrider.internal.protocol.Answered;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Results that the sinks of messages have not heard yet. Sinks are called after the dispatcher's
 * lock is released: see {@link #takeCalls}. Not thread-safe: guarded by the dispatcher's lock.
 */
final class Sinks {
  /** A run's delivered messages are reported together: at this number, or after this time. */
  private static final int RUN_MOST = 256;

  private static final long RUN_NANOS = 200_000_000;

  private final Set<Run> unreported = new LinkedHashSet<>();
  private List<Runnable> calls = new ArrayList<>();

  /** The calls to make after unlocking. */
  List<Runnable> takeCalls() {
    if (calls.isEmpty()) {
      return List.of();
    }
    List<Runnable> taken = calls;
    calls = new ArrayList<>();
    return taken;
  }

  void report(DispatchItem item, Answered answered) {
    calls.add(() -> item.sink.accept(answered));
  }

  /**
   * Reports a delivered message together with others of its run. One by one, each would cost a
   * transaction, and the key could not continue any sooner.
   */
  void reportWithRun(DispatchItem item, Run run, Answered answered, long now) {
    if (run.unreported.isEmpty()) {
      run.unreportedSinceNanos = now;
      unreported.add(run);
    }
    run.unreported.add(() -> item.sink.accept(answered));
    if (run.unreported.size() >= RUN_MOST || now - run.unreportedSinceNanos >= RUN_NANOS) {
      report(run);
    }
  }

  void report(Run run) {
    calls.addAll(run.unreported);
    run.unreported.clear();
    unreported.remove(run);
  }

  /** Reports runs that have waited long enough, because their next message takes longer. */
  void reportOlder(long now) {
    while (!unreported.isEmpty()) {
      Run oldest = unreported.iterator().next();
      if (now - oldest.unreportedSinceNanos < RUN_NANOS) {
        return;
      }
      report(oldest);
    }
  }
}
