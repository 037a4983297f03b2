package dev.postrider.internal.dispatch;

import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.internal.dispatch.CircuitBreaker.State;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The breakers of a destination's targets. Only targets that fail have one; a delivery removes it.
 * Messages for an open target are deferred at a bounded rate, so that a long queue for it does not
 * keep the relay busy. Not thread-safe: guarded by its dispatcher's lock.
 */
final class TargetBreakers {
  /** So many targets that are open, and so many that fail and are not. */
  static final int MOST = 10_000;

  /** Deferred messages that come back per second, shared evenly by the open targets. */
  static final int RETURNS_PER_SECOND = 1_000;

  /** The longest deferral. When more messages wait than the rate allows for, it wins. */
  static final Duration LONGEST = Duration.ofMinutes(15);

  private static final long SECOND_NANOS = Duration.ofSeconds(1).toNanos();
  private static final long LONGEST_NANOS = LONGEST.toNanos();

  /** By then every message of the target has come back at least once: there are none left. */
  private static final long FORGET_NANOS = 2 * LONGEST_NANOS;

  private static final long FORGET_EVERY_NANOS = Duration.ofMinutes(1).toNanos();

  private final BreakerOptions options;
  private final BiConsumer<String, State> changed;
  private final Map<String, Target> open = new HashMap<>();
  private final Map<String, Target> failing = latest();
  private long forgotAtNanos = System.nanoTime();

  TargetBreakers(BreakerOptions options, BiConsumer<String, State> changed) {
    this.options = options;
    this.changed = changed;
  }

  /** A target that fails. */
  static final class Target {
    final String name;
    final CircuitBreaker breaker;
    @Nullable DispatchItem probe;
    long slotNanos;
    long seenNanos;

    Target(String name, BreakerOptions options) {
      this.name = name;
      this.breaker = new CircuitBreaker(options, state -> {});
    }
  }

  /** The ones that failed last; the others are forgotten and count from zero again. */
  private static Map<String, Target> latest() {
    return new LinkedHashMap<>(16, 0.75f, true) {
      private static final long serialVersionUID = 1L;

      @Override
      protected boolean removeEldestEntry(Map.Entry<String, Target> eldest) {
        return size() > MOST;
      }
    };
  }

  boolean anyFails() {
    return !failing.isEmpty() || !open.isEmpty();
  }

  boolean anyOpen() {
    return !open.isEmpty();
  }

  int openCount() {
    return open.size();
  }

  int failingCount() {
    return failing.size();
  }

  boolean isOpen(String name) {
    return open.containsKey(name);
  }

  /**
   * How long a message for this target is deferred; null if it may go. The first one after the
   * pause goes as the target's probe.
   */
  @Nullable Duration deferral(String name, DispatchItem item, long nowNanos) {
    Target target = open.get(name);
    if (target == null || item == target.probe) {
      return null;
    }
    target.seenNanos = nowNanos;
    if (target.breaker.state(nowNanos) == State.HALF_OPEN && target.probe == null) {
      target.probe = item;
      item.probed = target;
      return null;
    }
    return slot(target, nowNanos);
  }

  void delivered(String name) {
    failing.remove(name);
    if (open.remove(name) != null) {
      changed.accept(name, State.CLOSED);
    }
  }

  /** Counts a failure. Returns how long the message is deferred if it was the target's probe. */
  @Nullable Duration failed(String name, DispatchItem item, long nowNanos) {
    Target target = open.get(name);
    if (target != null) {
      return target == item.probed ? probeFailed(target, nowNanos) : null;
    }
    target = failing.computeIfAbsent(name, n -> new Target(n, options));
    if (target.breaker.failed(nowNanos)) {
      opened(target, nowNanos);
    }
    return null;
  }

  /** Opens a target at its first failure. Returns how long the message is deferred. */
  Duration trip(String name, DispatchItem item, long nowNanos) {
    Target target = open.get(name);
    if (target != null) {
      return target == item.probed ? probeFailed(target, nowNanos) : slot(target, nowNanos);
    }
    target = new Target(name, options);
    target.breaker.open(nowNanos);
    opened(target, nowNanos);
    return last(target, nowNanos);
  }

  /** With too many open already it stays closed: its messages are tried, and count attempts. */
  private void opened(Target target, long nowNanos) {
    failing.remove(target.name);
    if (open.size() < MOST) {
      target.slotNanos = nowNanos;
      target.seenNanos = nowNanos;
      open.put(target.name, target);
      changed.accept(target.name, State.OPEN);
    }
  }

  private Duration probeFailed(Target target, long nowNanos) {
    target.breaker.open(nowNanos);
    return last(target, nowNanos);
  }

  /** A probe comes back later than the others, so that the next probe is another message. */
  private Duration last(Target target, long nowNanos) {
    return slot(target, nowNanos).plusNanos(target.breaker.pauseNanos() / 4);
  }

  /** The next free place after the pause, and up to a tenth later: relays must not come at once. */
  private Duration slot(Target target, long nowNanos) {
    long earliest = nowNanos + target.breaker.leftNanos(nowNanos);
    long slot = target.slotNanos + open.size() * SECOND_NANOS / RETURNS_PER_SECOND;
    target.slotNanos = slot - earliest < 0 ? earliest : slot;
    ThreadLocalRandom random = ThreadLocalRandom.current();
    long wait = target.slotNanos - nowNanos;
    if (wait > LONGEST_NANOS) {
      target.slotNanos = nowNanos + LONGEST_NANOS;
      return Duration.ofNanos(random.nextLong(LONGEST_NANOS / 2, LONGEST_NANOS));
    }
    return Duration.ofNanos(wait + random.nextLong(wait / 10 + 1));
  }

  /** Forgets targets for which no message came for long. Looks now and then only. */
  void sweep(long nowNanos) {
    if (nowNanos - forgotAtNanos >= FORGET_EVERY_NANOS) {
      forgotAtNanos = nowNanos;
      open.values()
          .removeIf(
              target -> {
                boolean over = nowNanos - target.seenNanos > FORGET_NANOS;
                if (over) {
                  changed.accept(target.name, State.CLOSED);
                }
                return over;
              });
    }
  }

  void close() {
    open.keySet().forEach(name -> changed.accept(name, State.CLOSED));
    open.clear();
    failing.clear();
  }
}
