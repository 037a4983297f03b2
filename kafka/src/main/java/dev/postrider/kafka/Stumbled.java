package dev.postrider.kafka;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Keys whose last message failed, the latest of them. They go one message at a time, through the
 * ordinary producer, until one is delivered: so a key that fails again and again stops no other
 * key's run. Thread-safe.
 */
final class Stumbled {
  private static final int MOST = 10_000;

  private final Map<OrderingKey, Boolean> keys =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<OrderingKey, Boolean> eldest) {
          return size() > MOST;
        }
      };
  private volatile boolean any;

  synchronized void add(OrderingKey key) {
    keys.put(key, true);
    any = true;
  }

  /** Quick while there are none. */
  boolean any() {
    return any;
  }

  synchronized boolean has(OrderingKey key) {
    return keys.containsKey(key);
  }

  synchronized void delivered(OrderingKey key) {
    keys.remove(key);
    any = !keys.isEmpty();
  }
}
