package dev.postrider.observe;

import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.message.Message;
import dev.postrider.message.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Several listeners as one. What one of them throws goes no further: neither the relay nor the
 * other listeners notice, and the log tells of it now and then. Thread-safe.
 */
final class Listeners implements RelayListener {
  private static final Logger log = LoggerFactory.getLogger(Listeners.class);

  private final List<RelayListener> listeners;
  private final LogBudget budget = new LogBudget(1, System::nanoTime);

  Listeners(List<RelayListener> listeners) {
    this.listeners = List.copyOf(listeners);
  }

  /** Catches errors too: a listener's missing class must not end the thread that carries. */
  private void each(Consumer<RelayListener> call) {
    for (RelayListener listener : listeners) {
      try {
        call.accept(listener);
      } catch (Throwable e) {
        String name = listener.getClass().getName();
        if (budget.allows(name)) {
          log.warn("{}", LogLine.of("outbox_listener_threw").put("listener", name), Silenced.of(e));
        }
      }
    }
  }

  @Override
  public void opened(String destination, IntSupplier inFlight) {
    each(listener -> listener.opened(destination, inFlight));
  }

  @Override
  public void closed(String destination, IntSupplier inFlight) {
    each(listener -> listener.closed(destination, inFlight));
  }

  @Override
  public void woken(String reason) {
    each(listener -> listener.woken(reason));
  }

  @Override
  public void claimed(int messages, Duration took) {
    each(listener -> listener.claimed(messages, took));
  }

  @Override
  public void sent(String destination, Message message) {
    each(listener -> listener.sent(destination, message));
  }

  @Override
  public void settled(String destination, Settlement settlement) {
    each(listener -> listener.settled(destination, settlement));
  }

  @Override
  public void conflict(String destination, Settlement settlement) {
    each(listener -> listener.conflict(destination, settlement));
  }

  @Override
  public void reaped(int messages) {
    each(listener -> listener.reaped(messages));
  }

  @Override
  public void breaker(String destination, String state) {
    each(listener -> listener.breaker(destination, state));
  }

  @Override
  public void targetBreaker(String destination, String target, String state) {
    each(listener -> listener.targetBreaker(destination, target, state));
  }

  @Override
  public void violation(String destination, String what) {
    each(listener -> listener.violation(destination, what));
  }

  @Override
  public void retained(String task, long removed, Duration took) {
    each(listener -> listener.retained(task, removed, took));
  }

  @Override
  public void retentionStopped(String task, long removed, Duration took) {
    each(listener -> listener.retentionStopped(task, removed, took));
  }

  @Override
  public void retentionSkipped(String task, String reason) {
    each(listener -> listener.retentionSkipped(task, reason));
  }

  @Override
  public void retentionAge(String task, Duration age) {
    each(listener -> listener.retentionAge(task, age));
  }

  @Override
  public void retentionFailed(String task, Exception error) {
    each(listener -> listener.retentionFailed(task, error));
  }

  @Override
  public void databaseFailed(String kind, Exception error) {
    each(listener -> listener.databaseFailed(kind, error));
  }
}
