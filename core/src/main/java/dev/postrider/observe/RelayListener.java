package dev.postrider.observe;

import dev.postrider.message.Message;
import dev.postrider.message.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Hears what a relay does. Called from the relay's threads, some methods once per message: return
 * quickly. What a listener throws is logged and goes no further. Every method does nothing unless
 * overridden.
 */
public interface RelayListener {
  /** Hears nothing. */
  RelayListener NONE = new RelayListener() {};

  /** All of these, in this order; one that throws does not keep the others from hearing. */
  static RelayListener all(RelayListener... listeners) {
    return new Listeners(List.of(listeners));
  }

  /**
   * A destination is served from now on.
   *
   * @param inFlight tells how many messages are claimed for it and not yet settled
   */
  default void opened(String destination, IntSupplier inFlight) {}

  /** A destination is no longer served; {@code inFlight} is the one that it was opened with. */
  default void closed(String destination, IntSupplier inFlight) {}

  /** A thread of the relay woke, or polled because nothing woke it. */
  default void woken(String reason) {}

  /** A claim took this many messages; none, if it looked in vain. */
  default void claimed(int messages, Duration took) {}

  /** A message was handed to its destination. */
  default void sent(String destination, Message message) {}

  /**
   * A message was settled: delivered, to be retried, dead, released or deferred. The database has
   * it.
   */
  default void settled(String destination, Settlement settlement) {}

  /** A settlement was refused, because the lease was lost. */
  default void conflict(String destination, Settlement settlement) {}

  /** The reaper put the work of dead relays back. */
  default void reaped(int messages) {}

  /** A destination's breaker changed: closed, open or half_open. */
  default void breaker(String destination, String state) {}

  /**
   * The breaker of one target of a destination changed: open or closed. Each that is open is closed
   * some time, at the latest with its destination.
   */
  default void targetBreaker(String destination, String target, String state) {}

  /** A destination broke its contract: what it did, and for which message if one is known. */
  default void violation(String destination, String what) {}

  /** A retention task came to its end, after removing so many rows. */
  default void retained(String task, long removed, Duration took) {}

  /**
   * A retention task ended early, after removing so many rows: the relay stops, or another one has
   * the turn.
   */
  default void retentionStopped(String task, long removed, Duration took) {}

  /**
   * How long ago a task came to its end, in any relay of this database; if it never did, how long
   * ago a relay first started it, or this relay was started. Told for each task that this relay has
   * a period for, when it starts and after each look.
   */
  default void retentionAge(String task, Duration age) {}

  /**
   * A retention task is due, but this relay may not carry it out now. Told once for each reason.
   */
  default void retentionSkipped(String task, String reason) {}

  /** A retention task failed and is tried again later; {@code all} if none could be started. */
  default void retentionFailed(String task, Exception error) {}

  /** The database failed; the relay goes on by itself. */
  default void databaseFailed(String kind, Exception error) {}
}
