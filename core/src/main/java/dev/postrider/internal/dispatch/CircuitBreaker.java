package dev.postrider.internal.dispatch;

import dev.postrider.destination.DestinationOptions.BreakerOptions;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Stops trying what fails again and again: open for a while, then a single probe, then closed or
 * open for twice as long. Not thread-safe: guarded by its dispatcher's lock.
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

  /** How long it is open this time. */
  long pauseNanos() {
    return openNanos;
  }

  /** When a probe may go, of the times it was opened the last one. */
  long probeAtNanos() {
    return probeAtNanos;
  }

  /** How long until a probe may go; its whole pause if one is on its way. */
  long leftNanos(long nowNanos) {
    return state(nowNanos) == State.OPEN ? probeAtNanos - nowNanos : openNanos;
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
    if (state == State.HALF_OPEN || (state == State.CLOSED && failures >= options.failures())) {
      open(nowNanos);
      return true;
    }
    return false;
  }

  /** Opens it, for twice as long if it was not closed before. */
  void open(long nowNanos) {
    openNanos =
        state == State.CLOSED
            ? options.openMin().toNanos()
            : Math.min(openNanos * 2, options.openMax().toNanos());
    probeAtNanos = nowNanos + openNanos;
    become(State.OPEN);
  }

  private void become(State next) {
    state = next;
    changed.accept(next);
  }
}
