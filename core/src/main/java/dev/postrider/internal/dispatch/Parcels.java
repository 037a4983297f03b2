package dev.postrider.internal.dispatch;

import dev.postrider.destination.Destination;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.message.Claimed;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The messages that a dispatcher has: those that wait and those that are with the destination, a
 * key's in their order. Not thread-safe: guarded by the dispatcher's lock.
 */
final class Parcels {
  /** A run takes at most this share of what may be with the destination. */
  private static final int RUN_SHARE = 4;

  private static final int RUN_MOST = 1_000;
  private static final int RUN_LEAST = 16;

  private final Breakers breakers;
  private final Turns waiting = new Turns();
  private final Set<Parcel> sent = new LinkedHashSet<>();
  private final Sinks sinks;
  private final long runBytesMost;

  Parcels(Breakers breakers, Sinks sinks, long maxBytes) {
    this.breakers = breakers;
    this.sinks = sinks;
    this.runBytesMost = maxBytes / RUN_SHARE;
  }

  void add(List<Claimed> batch, LeaseClock lease, Consumer<Answered> sink, Dispatcher.Check check) {
    Map<Long, Run> runs = new HashMap<>();
    for (Claimed claimed : batch) {
      Run run = claimed.ordered() ? runs.get(claimed.keyId()) : null;
      if (run != null) {
        run.behind.add(new Parcel(claimed, lease, sink, check, run));
        continue;
      }
      if (claimed.ordered()) {
        run = new Run();
        runs.put(claimed.keyId(), run);
      }
      waiting.add(new Parcel(claimed, lease, sink, check, run));
    }
  }

  boolean isWaiting() {
    return !waiting.isEmpty();
  }

  int sentCount() {
    return sent.size();
  }

  /**
   * Keeps one message to probe the destination with, the first whose target may be tried, and gives
   * the others back.
   */
  void keepProbe(long now) {
    Parcel probe = null;
    for (Parcel parcel = waiting.poll(); parcel != null; parcel = waiting.poll()) {
      releaseBehind(parcel.run); // a batch of a key would be more than a probe
      boolean wanted = probe == null && !breakers.probing();
      Duration deferral = wanted ? breakers.deferral(parcel, now) : null;
      if (deferral != null) {
        defer(parcel, deferral);
      } else if (wanted) {
        probe = parcel;
      } else {
        release(parcel);
      }
    }
    if (probe != null) {
      breakers.probeWith(probe);
      waiting.add(probe);
    }
  }

  /**
   * Takes what may be handed over now, up to a number with the destination. A key whose messages
   * are not answered must leave room for the others, so a run is handed over in parts.
   */
  List<Parcel> handOver(int concurrency, Destination destination, long now) {
    List<Parcel> taken = new ArrayList<>();
    boolean keepsOrder = destination.keepsOrder();
    int runMost = Math.max(RUN_LEAST, Math.min(RUN_MOST, concurrency / RUN_SHARE));
    while (sent.size() < concurrency) {
      Parcel parcel = waiting.poll();
      if (parcel == null) {
        break;
      }
      handOver(parcel, now);
      taken.add(parcel);
      long bytes = parcel.claimed.bytes();
      for (int count = 1; keepsOrder && count < runMost && sent.size() < concurrency; count++) {
        Run run = parcel.run;
        parcel = run == null ? null : run.takeFollower(parcel, runBytesMost - bytes, destination);
        if (parcel == null) {
          break;
        }
        handOver(parcel, now);
        taken.add(parcel);
        bytes += parcel.claimed.bytes();
      }
    }
    return taken;
  }

  /** From here on the timeout runs, for the check as well as for the destination. */
  private void handOver(Parcel parcel, long now) {
    parcel.stage = Parcel.Stage.SENT;
    parcel.sentAtNanos = now;
    if (parcel.run != null) {
      parcel.run.sent++;
    }
    sent.add(parcel);
  }

  /**
   * Of those handed over, the ones that may still be sent: not refused, their lease holds, nothing
   * before them failed and no breaker is open. The others are given back.
   */
  List<Parcel> ready(List<Parcel> taken, long now) {
    List<Parcel> ready = new ArrayList<>(taken.size());
    for (Parcel parcel : taken) {
      if (parcel.stage != Parcel.Stage.SENT) {
        continue;
      }
      boolean mayGo =
          parcel.lease.holds(now)
              && (parcel.run == null || !parcel.run.broken)
              && breakers.passes(parcel, now);
      Duration deferral = mayGo ? breakers.deferral(parcel, now) : null;
      if (mayGo && deferral == null) {
        ready.add(parcel);
        continue;
      }
      sent.remove(parcel);
      breakRun(parcel.run);
      if (deferral == null) {
        release(parcel);
      } else {
        defer(parcel, deferral);
      }
    }
    return ready;
  }

  /** Removes those handed over before this instant; they count as timed out. */
  List<Parcel> timeOut(long sentBefore) {
    List<Parcel> late = new ArrayList<>();
    for (Iterator<Parcel> oldest = sent.iterator(); oldest.hasNext(); ) {
      Parcel parcel = oldest.next();
      if (sentBefore - parcel.sentAtNanos < 0) {
        break;
      }
      oldest.remove();
      parcel.stage = Parcel.Stage.TIMED_OUT;
      late.add(parcel);
    }
    return late;
  }

  /** Whether it was with the destination, and is not any more. */
  boolean takeBack(Parcel parcel) {
    boolean removed = sent.remove(parcel);
    if (removed) {
      parcel.stage = Parcel.Stage.ANSWERED;
    }
    return removed;
  }

  /** Takes an answer: for its sink, and for what stands behind the message. */
  void finish(Parcel parcel, Outcome outcome, @Nullable Duration deferral, long now) {
    breakers.left(parcel);
    Answered answered =
        new Answered(parcel.claimed, outcome, parcel.latencyMs(now), deferral, false);
    Run run = parcel.run;
    if (run == null) {
      sinks.report(parcel, answered);
    } else if (outcome instanceof Outcome.Delivered) {
      run.sent--;
      sinks.reportWithRun(parcel, run, answered, now);
      if (run.sent == 0 && run.behind.isEmpty()) {
        sinks.report(run);
      }
    } else {
      sinks.report(run);
      sinks.report(parcel, answered);
      breakRun(run);
    }
  }

  /** After a delivery: the next message of the key waits for its turn. */
  void queueNext(Parcel delivered) {
    Run run = delivered.run;
    if (run != null && run.sent == 0 && !run.behind.isEmpty()) {
      waiting.add(run.behind.remove());
    }
  }

  /**
   * After a delivery: hands over the next message of the key without a turn, for the thread that
   * brought the answer. Null if there is none, if others wait for their turn, or if the sender must
   * look at it first.
   */
  @Nullable Parcel handOverNext(Parcel delivered, long now) {
    Run run = delivered.run;
    Parcel next = run == null || run.sent > 0 ? null : run.behind.peek();
    if (run == null
        || next == null
        || !waiting.isEmpty()
        || !next.checked
        || !next.lease.holds(now)
        || !breakers.allClosed(now)) {
      return null;
    }
    run.behind.remove();
    handOver(next, now);
    return next;
  }

  /** The next few messages behind these, which the sender has not checked yet. */
  List<Parcel> unchecked(List<Parcel> heads, int mostPerRun) {
    List<Parcel> unchecked = new ArrayList<>();
    for (Parcel head : heads) {
      if (head.run != null) {
        head.run.behind.stream()
            .limit(mostPerRun)
            .filter(parcel -> !parcel.checked)
            .forEach(unchecked::add);
      }
    }
    return unchecked;
  }

  /** Late: settled under its old lease it is refused, and so recorded as a conflict. */
  void finishLate(Parcel parcel, Outcome outcome, long now) {
    parcel.stage = Parcel.Stage.ANSWERED;
    sinks.report(parcel, new Answered(parcel.claimed, outcome, parcel.latencyMs(now), null, true));
  }

  void releaseWaiting() {
    waiting.drain(
        parcel -> {
          release(parcel);
          releaseBehind(parcel.run);
        });
  }

  /** What stands behind messages that are with the destination. */
  void releaseFollowers() {
    sent.forEach(parcel -> releaseBehind(parcel.run));
  }

  /** Gives back also what is with the destination. */
  void abandonSent() {
    for (Parcel parcel : sent) {
      releaseBehind(parcel.run);
      release(parcel);
      parcel.stage = Parcel.Stage.ABANDONED;
    }
    sent.clear();
  }

  /** A message of the run did not arrive: what stands behind it may not go before it. */
  private void breakRun(@Nullable Run run) {
    if (run != null) {
      run.sent--;
      run.broken = true;
      releaseBehind(run);
    }
  }

  private void releaseBehind(@Nullable Run run) {
    if (run != null) {
      sinks.report(run);
      run.behind.forEach(this::release);
      run.behind.clear();
    }
  }

  private void release(Parcel parcel) {
    unsent(parcel, Answered.unsent(parcel.claimed));
  }

  private void defer(Parcel parcel, Duration deferral) {
    unsent(parcel, Answered.deferred(parcel.claimed, deferral));
  }

  private void unsent(Parcel parcel, Answered answered) {
    breakers.left(parcel);
    parcel.stage = Parcel.Stage.ANSWERED;
    sinks.report(parcel, answered);
  }
}
