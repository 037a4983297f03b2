package dev.postrider.kafka;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Keys whose last message failed, the latest of them. They go one message at a time, through the
 * ordinary producer, until one is delivered: so a key that fails again and again stops no other
 * key's run. A key of which nothing was heard for a while is forgotten. Thread-safe.
 */
final class FailingKeys {
  static final int MOST = 10_000;
  static final Duration KEPT = Duration.ofMinutes(10);

  /** The nanosecond of each key's last failure, the latest last. */
  private final Map<OrderingKey, Long> keys = new LinkedHashMap<>();

  private final LongSupplier nanoClock;
  private volatile boolean any;

  FailingKeys(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  synchronized void add(OrderingKey key) {
    keys.remove(key);
    keys.put(key, nanoClock.getAsLong());
    forget();
  }

  /** Quick while there are none. */
  boolean any() {
    return any;
  }

  synchronized boolean has(OrderingKey key) {
    forget();
    return keys.containsKey(key);
  }

  synchronized void delivered(OrderingKey key) {
    keys.remove(key);
    forget();
  }

  private void forget() {
    long now = nanoClock.getAsLong();
    Iterator<Long> failedAt = keys.values().iterator();
    while (failedAt.hasNext()) {
      boolean old = now - failedAt.next() >= KEPT.toNanos();
      if (!old && keys.size() <= MOST) {
        break;
      }
      failedAt.remove();
    }
    any = !keys.isEmpty();
  }
}
