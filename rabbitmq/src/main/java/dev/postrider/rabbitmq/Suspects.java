package dev.postrider.rabbitmq;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Messages that may have made the broker close a channel, and exchanges that surely did. They go
 * one at a time over a channel of their own, so that the guilty one is known and the others are not
 * held up. Remembers the latest of each. Thread-safe.
 */
final class Suspects {
  private static final int MESSAGES = 10_000;
  private static final int EXCHANGES = 1_000;

  private final Map<UUID, Boolean> messages = latest(MESSAGES);
  private final Map<String, Boolean> exchanges = latest(EXCHANGES);
  private volatile boolean any;

  private static <K> Map<K, Boolean> latest(int size) {
    return new LinkedHashMap<>() {
      private static final long serialVersionUID = 1L;

      @Override
      protected boolean removeEldestEntry(Map.Entry<K, Boolean> eldest) {
        return size() > size;
      }
    };
  }

  synchronized void add(UUID message) {
    messages.put(message, true);
    any = true;
  }

  synchronized void add(String exchange) {
    exchanges.put(exchange, true);
    any = true;
  }

  boolean has(PendingConfirm pendingConfirm) {
    if (!any) {
      return false;
    }
    synchronized (this) {
      return messages.containsKey(pendingConfirm.id)
          || exchanges.containsKey(pendingConfirm.publication.exchange());
    }
  }

  synchronized boolean hasExchange(String exchange) {
    return exchanges.containsKey(exchange);
  }

  void clear(PendingConfirm delivered) {
    if (any) {
      synchronized (this) {
        messages.remove(delivered.id);
        exchanges.remove(delivered.publication.exchange());
        any = !messages.isEmpty() || !exchanges.isEmpty();
      }
    }
  }
}
