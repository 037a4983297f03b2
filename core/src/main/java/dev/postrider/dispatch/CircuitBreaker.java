package dev.postrider.dispatch;

import dev.postrider.dispatch.DestinationOptions.BreakerOptions;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Stops trying a destination that fails again and again: open for a while, then a single probe,
 * then closed or open for twice as long. Not thread-safe: guarded by its dispatcher's lock.
 */
final class CircuitBreaker {
  enum State {
    CLOSED,
    OPEN,
    HALF_OPEN;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final BreakerOptions options;
  private final Consumer<State> changed;
  private State state = State.CLOSED;
  private int failures;
  private long openNanos;
  private long probeAtNanos;

  CircuitBreaker(BreakerOptions options, Consumer<State> changed) {
    this.options = options;
    this.changed = changed;
  }

  State state(long nowNanos) {
    if (state == State.OPEN && nowNanos - probeAtNanos >= 0) {
      become(State.HALF_OPEN);
    }
    return state;
  }

  /** Returns whether its pause is over with this look. */
  boolean due(long nowNanos) {
    return state == State.OPEN && state(nowNanos) == State.HALF_OPEN;
  }

  void succeeded() {
    failures = 0;
    if (state != State.CLOSED) {
      become(State.CLOSED);
    }
  }

  /** Returns whether this failure opened the breaker. */
  boolean failed(long nowNanos) {
    failures++;
    if (state == State.CLOSED && failures >= options.failures()) {
      open(nowNanos, options.openMin().toNanos());
      return true;
    }
    if (state == State.HALF_OPEN) {
      open(nowNanos, Math.min(openNanos * 2, options.openMax().toNanos()));
      return true;
    }
    return false;
  }

  private void open(long nowNanos, long forNanos) {
    openNanos = forNanos;
    probeAtNanos = nowNanos + forNanos;
    become(State.OPEN);
  }

  private void become(State next) {
    state = next;
    changed.accept(next);
  }
}
