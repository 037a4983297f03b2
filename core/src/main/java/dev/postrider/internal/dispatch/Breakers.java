package dev.postrider.internal.dispatch;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.internal.dispatch.CircuitBreaker.State;
import dev.postrider.message.Outcome;
import dev.postrider.observe.RelayListener;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Decides from answers what is out, the destination as a whole or one of its targets, and from that
 * what may be sent. Whatever probes a breaker and fails is deferred and costs no attempt. Not
 * thread-safe: guarded by its dispatcher's lock.
 */
final class Breakers {
  /** A message waits so long at least if its check needs something that is not available. */
  private static final Duration UNAVAILABLE = Duration.ofSeconds(1);

  private final Destination destination;
  private final CircuitBreaker whole;
  private final TargetBreakers targets;

  /** Of the destination as a whole. */
  private @Nullable DispatchItem probe;

  private long answeredAtNanos = System.nanoTime();

  /** The first target that did not answer in time, since the last answer of any. */
  private @Nullable String silent;

  Breakers(
      String name, Destination destination, DestinationOptions options, RelayListener listener) {
    this.destination = destination;
    this.whole =
        new CircuitBreaker(options.breaker(), state -> listener.breaker(name, state.label()));
    this.targets =
        new TargetBreakers(
            options.breaker(),
            (target, state) -> listener.targetBreaker(name, target, state.label()));
  }

  /** Where a failure came from. */
  enum Failure {
    ANSWER,
    TIMEOUT,
    THROWN
  }

  State state(long nowNanos) {
    return whole.state(nowNanos);
  }

  long probeAtNanos() {
    return whole.probeAtNanos();
  }

  int openTargets() {
    return targets.openCount();
  }

  /** Whether every message may go. */
  boolean allClosed(long nowNanos) {
    return whole.state(nowNanos) == State.CLOSED && !targets.anyOpen();
  }

  /** Returns whether the destination's pause is over with this look. */
  boolean sweep(long nowNanos) {
    targets.sweep(nowNanos);
    return whole.due(nowNanos);
  }

  /** Whether a message is under way to find out if the destination is back. */
  boolean probing() {
    return probe != null;
  }

  void probeWith(DispatchItem item) {
    probe = item;
  }

  /** Whether the destination as a whole lets this message pass. */
  boolean passes(DispatchItem item, long nowNanos) {
    return whole.state(nowNanos) == State.CLOSED || item == probe;
  }

  /** How long the message's target makes it wait; null if it may go. */
  @Nullable Duration deferral(DispatchItem item, long nowNanos) {
    String target = targets.anyOpen() ? target(item) : null;
    return target == null ? null : targets.deferral(target, item, nowNanos);
  }

  /** The message is no longer under way, whatever became of it. */
  void left(DispatchItem item) {
    if (item == probe) {
      probe = null;
    }
    TargetBreakers.Target probed = item.probed;
    if (probed != null && probed.probe == item) {
      probed.probe = null;
    }
  }

  /** Takes an answer. Returns how long the message is deferred; null if its answer counts. */
  @Nullable Duration judge(DispatchItem item, Outcome outcome, Failure failure, long nowNanos) {
    if (outcome instanceof Outcome.Delivered) {
      answered(nowNanos);
      delivered(item);
      return null;
    }
    if (outcome instanceof Outcome.Unavailable || failure == Failure.THROWN) {
      return failed(item, nowNanos);
    }
    if (outcome instanceof Outcome.Retryable) {
      if (failure == Failure.ANSWER) {
        answered(nowNanos);
      }
      String target = target(item);
      return target == null
          ? failed(item, nowNanos)
          : targetFailed(target, item, failure, nowNanos);
    }
    // Refused or not sent, perhaps by this process: says nothing about either.
    return unsent(outcome);
  }

  /**
   * How long a message is deferred that was not sent for this reason; null if the answer counts.
   * Nobody is blamed.
   */
  static @Nullable Duration unsent(Outcome outcome) {
    if (outcome instanceof Outcome.Unavailable) {
      return spread(UNAVAILABLE);
    }
    return outcome instanceof Outcome.NotSent unsent ? spread(unsent.delay()) : null;
  }

  private void answered(long nowNanos) {
    answeredAtNanos = nowNanos;
    silent = null;
  }

  private static Duration spread(Duration delay) {
    return delay.plusMillis(ThreadLocalRandom.current().nextLong(delay.toMillis() + 1));
  }

  private void delivered(DispatchItem item) {
    whole.succeeded();
    String target = targets.anyFails() ? target(item) : null;
    if (target != null) {
      targets.delivered(target);
    }
  }

  /** The destination as a whole failed. */
  private @Nullable Duration failed(DispatchItem item, long nowNanos) {
    boolean probed = item == probe || item.probed != null;
    whole.failed(nowNanos);
    return probed ? afterOthers(nowNanos) : null;
  }

  /** The next probe is to be another message, or one that always fails would keep it open. */
  private Duration afterOthers(long nowNanos) {
    return Duration.ofNanos(whole.leftNanos(nowNanos) + whole.pauseNanos() / 4);
  }

  private @Nullable Duration targetFailed(
      String target, DispatchItem item, Failure failure, long nowNanos) {
    boolean answered = failure == Failure.ANSWER;
    if (item == probe) {
      Duration deferral = targets.trip(target, item, nowNanos);
      if (answered) {
        whole.succeeded(); // it is there: an answer about one target came from somewhere
        return deferral;
      }
      whole.failed(nowNanos);
      Duration after = afterOthers(nowNanos);
      return after.compareTo(deferral) > 0 ? after : deferral;
    }
    if (!answered && !targets.isOpen(target) && silence(target, item)) {
      whole.failed(nowNanos);
    }
    return targets.failed(target, item, nowNanos);
  }

  /**
   * Whether the destination as a whole is silent: several targets owe an answer, and none of any
   * target came since this message was sent.
   */
  private boolean silence(String target, DispatchItem item) {
    if (silent == null) {
      silent = target;
    }
    return !silent.equals(target) && answeredAtNanos - item.sentAtNanos < 0;
  }

  private @Nullable String target(DispatchItem item) {
    try {
      return destination.target(item.claimed.message());
    } catch (Throwable e) { // also an error: the message must not stay here for ever
      return item.claimed.message().route().toString();
    }
  }

  void close() {
    targets.close();
  }
}
