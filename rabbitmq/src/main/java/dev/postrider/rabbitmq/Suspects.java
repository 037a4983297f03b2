package dev.postrider.rabbitmq;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Messages that may have made the broker close a channel, and exchanges that surely did. They go
 * one at a time over a channel of their own, so that the guilty one is known and the others are not
 * held up. So do messages for an exchange that has not answered yet, if messages name their
 * exchange: a producer could name a missing one each time. Remembers the latest of each.
 * Thread-safe.
 */
final class Suspects {
  private static final int MESSAGES = 10_000;
  private static final int EXCHANGES = 1_000;
  private static final int PROVEN = 10_000;

  private final boolean wantsProof;
  private final Map<UUID, Boolean> messages = latest(MESSAGES);
  private final Map<String, Boolean> exchanges = latest(EXCHANGES);
  private final Map<String, Boolean> proven = latest(PROVEN);
  private volatile boolean any;

  /**
   * Suspects nothing yet.
   *
   * @param wantsProof whether an exchange is suspect until it answers
   */
  Suspects(boolean wantsProof) {
    this.wantsProof = wantsProof;
  }

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
    proven.remove(exchange);
    any = true;
  }

  boolean has(PendingConfirm pendingConfirm) {
    if (!any && !wantsProof) {
      return false;
    }
    String exchange = pendingConfirm.publication.exchange();
    synchronized (this) {
      return messages.containsKey(pendingConfirm.id)
          || exchanges.containsKey(exchange)
          || (wantsProof && !proven.containsKey(exchange));
    }
  }

  synchronized boolean hasExchange(String exchange) {
    return exchanges.containsKey(exchange);
  }

  /** The broker has answered for the message, so it was not the one, and its exchange is there. */
  void clear(PendingConfirm answered) {
    if (!any && !wantsProof) {
      return;
    }
    String exchange = answered.publication.exchange();
    synchronized (this) {
      messages.remove(answered.id);
      exchanges.remove(exchange);
      any = !messages.isEmpty() || !exchanges.isEmpty();
      if (wantsProof) {
        proven.putIfAbsent(exchange, true);
      }
    }
  }
}
