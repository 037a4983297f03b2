package dev.postrider.observe;

import dev.postrider.message.Message;
import dev.postrider.message.Settlement;
import java.time.Duration;

/**
 * Hears what a relay does. Called from the relay's threads: return quickly and throw nothing. Every
 * method does nothing unless overridden.
 */
public interface RelayListener {
  /** Hears nothing. */
  RelayListener NONE = new RelayListener() {};

  /** A thread of the relay woke, or polled because nothing woke it. */
  default void woken(String reason) {}

  /** A claim took this many messages; none, if it looked in vain. */
  default void claimed(int messages, Duration took) {}

  /** A message was settled: delivered, to be retried, dead or released. */
  default void settled(String destination, Settlement settlement) {}

  /** A settlement was refused, because the lease was lost. */
  default void conflict(String destination, Settlement settlement) {}

  /** The reaper put the work of dead relays back. */
  default void reaped(int messages) {}

  /** A destination's breaker changed: closed, open or half_open. */
  default void breaker(String destination, String state) {}

  /** A destination broke its contract: what it did, and for which message if one is known. */
  default void violation(String destination, String what) {}

  /** The database failed; the relay goes on by itself. */
  default void databaseFailed(String kind, Exception error) {}

  /** A message was handed to its destination. */
  default void sent(String destination, Message message) {}
}
