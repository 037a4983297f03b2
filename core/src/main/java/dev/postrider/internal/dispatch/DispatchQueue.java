package dev.postrider.internal.dispatch;

import dev.postrider.destination.Destination;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.protocol.Claimed;
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
final class DispatchQueue {
  private final Breakers breakers;
  private final Turns waiting = new Turns();
  private final Set<DispatchItem> sent = new LinkedHashSet<>();
  private final Copies copies = new Copies();
  private final Sinks sinks;
  private final long runBytesMost;

  DispatchQueue(Breakers breakers, Sinks sinks, long maxBytes) {
    this.breakers = breakers;
    this.sinks = sinks;
    this.runBytesMost = Run.mostBytes(maxBytes);
  }

  void add(List<Claimed> batch, LeaseClock lease, Consumer<Answered> sink, Dispatcher.Check check) {
    Map<Long, Run> runs = new HashMap<>();
    for (Claimed claimed : batch) {
      Run run = claimed.ordered() ? runs.get(claimed.keyId()) : null;
      if (run != null) {
        run.behind.add(new DispatchItem(claimed, lease, sink, check, run));
        continue;
      }
      if (claimed.ordered()) {
        run = new Run();
        runs.put(claimed.keyId(), run);
      }
      waiting.add(new DispatchItem(claimed, lease, sink, check, run));
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
    copies.drain(waiting::add);
    DispatchItem probe = null;
    for (DispatchItem item = waiting.poll(); item != null; item = waiting.poll()) {
      releaseBehind(item.run); // a batch of a key would be more than a probe
      boolean wanted = probe == null && !breakers.probing();
      Duration deferral = wanted ? breakers.deferral(item, now) : null;
      if (deferral != null) {
        defer(item, deferral);
      } else if (wanted) {
        probe = item;
      } else {
        release(item);
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
  List<DispatchItem> handOver(int concurrency, Destination destination, long now) {
    List<DispatchItem> taken = new ArrayList<>();
    boolean keepsOrder = destination.keepsOrder();
    int runMost = Run.mostMessages(concurrency);
    while (sent.size() < concurrency) {
      DispatchItem item = waiting.poll();
      if (item == null) {
        break;
      }
      if (copies.hold(item)) {
        continue;
      }
      handOver(item, now);
      taken.add(item);
      long bytes = item.claimed.bytes();
      for (int count = 1; keepsOrder && count < runMost && sent.size() < concurrency; count++) {
        Run run = item.run;
        item =
            run == null ? null : run.takeFollower(item, runBytesMost - bytes, copies, destination);
        if (item == null) {
          break;
        }
        handOver(item, now);
        taken.add(item);
        bytes += item.claimed.bytes();
      }
    }
    return taken;
  }

  /** From here on the timeout runs, for the check as well as for the destination. */
  private void handOver(DispatchItem item, long now) {
    item.stage = DispatchItem.Stage.SENT;
    item.sentAtNanos = now;
    if (item.run != null) {
      item.run.sent++;
    }
    sent.add(item);
    copies.sent(item);
  }

  /**
   * Of those handed over, the ones that may still be sent: not refused, their lease holds, nothing
   * before them failed and no breaker is open. The others are given back.
   */
  List<DispatchItem> ready(List<DispatchItem> taken, long now) {
    List<DispatchItem> ready = new ArrayList<>(taken.size());
    for (DispatchItem item : taken) {
      if (item.stage != DispatchItem.Stage.SENT) {
        continue;
      }
      boolean mayGo =
          item.lease.holds(now)
              && (item.run == null || !item.run.broken)
              && breakers.passes(item, now);
      Duration deferral = mayGo ? breakers.deferral(item, now) : null;
      if (mayGo && deferral == null) {
        ready.add(item);
        continue;
      }
      sent.remove(item);
      copies.left(item, waiting::add);
      breakRun(item.run);
      if (deferral == null) {
        release(item);
      } else {
        defer(item, deferral);
      }
    }
    return ready;
  }

  /** Removes those handed over before this instant; they count as timed out. */
  List<DispatchItem> timeOut(long sentBefore) {
    List<DispatchItem> late = new ArrayList<>();
    for (Iterator<DispatchItem> oldest = sent.iterator(); oldest.hasNext(); ) {
      DispatchItem item = oldest.next();
      if (sentBefore - item.sentAtNanos < 0) {
        break;
      }
      oldest.remove();
      copies.left(item, waiting::add);
      item.stage = DispatchItem.Stage.TIMED_OUT;
      late.add(item);
    }
    return late;
  }

  /** Whether it was with the destination, and is not any more. */
  boolean takeBack(DispatchItem item) {
    boolean removed = sent.remove(item);
    if (removed) {
      copies.left(item, waiting::add);
      item.stage = DispatchItem.Stage.ANSWERED;
    }
    return removed;
  }

  /** Takes an answer: for its sink, and for what stands behind the message. */
  void finish(DispatchItem item, Outcome outcome, @Nullable Duration deferral, long now) {
    breakers.left(item);
    Answered answered = new Answered(item.claimed, outcome, item.latencyMs(now), deferral, false);
    Run run = item.run;
    if (run == null) {
      sinks.report(item, answered);
    } else if (outcome instanceof Outcome.Delivered) {
      run.sent--;
      sinks.reportWithRun(item, run, answered, now);
      if (run.sent == 0 && run.behind.isEmpty()) {
        sinks.report(run);
      }
    } else {
      sinks.report(run);
      sinks.report(item, answered);
      breakRun(run);
    }
  }

  /** After a delivery: the next message of the key waits for its turn. */
  void queueNext(DispatchItem delivered) {
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
  @Nullable DispatchItem handOverNext(DispatchItem delivered, long now) {
    Run run = delivered.run;
    DispatchItem next = run == null || run.sent > 0 ? null : run.behind.peek();
    if (run == null
        || next == null
        || !waiting.isEmpty()
        || !next.checked
        || copies.isSent(next)
        || !next.lease.holds(now)
        || !breakers.allClosed(now)) {
      return null;
    }
    run.behind.remove();
    handOver(next, now);
    return next;
  }

  /** Late: settled under its old lease it is refused, and so recorded as a conflict. */
  void finishLate(DispatchItem item, Outcome outcome, long now) {
    item.stage = DispatchItem.Stage.ANSWERED;
    sinks.report(item, new Answered(item.claimed, outcome, item.latencyMs(now), null, true));
  }

  void releaseWaiting() {
    copies.drain(waiting::add);
    waiting.drain(
        item -> {
          release(item);
          releaseBehind(item.run);
        });
  }

  /** What stands behind messages that are with the destination. */
  void releaseFollowers() {
    sent.forEach(item -> releaseBehind(item.run));
  }

  /** Gives back also what is with the destination. */
  void abandonSent() {
    for (DispatchItem item : sent) {
      copies.left(item, waiting::add);
      releaseBehind(item.run);
      release(item);
      item.stage = DispatchItem.Stage.ABANDONED;
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

  private void release(DispatchItem item) {
    unsent(item, Answered.unsent(item.claimed));
  }

  private void defer(DispatchItem item, Duration deferral) {
    unsent(item, Answered.deferred(item.claimed, deferral));
  }

  private void unsent(DispatchItem item, Answered answered) {
    breakers.left(item);
    item.stage = DispatchItem.Stage.ANSWERED;
    sinks.report(item, answered);
  }
}
