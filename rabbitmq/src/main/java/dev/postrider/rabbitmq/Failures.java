package dev.postrider.rabbitmq;

import com.rabbitmq.client.Delivery;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * How often a message has failed. A quorum queue counts itself, in the header {@code
 * x-delivery-count}, whatever process had the message. A classic queue does not, so we count what
 * failed here: after a restart, or in another process, it starts anew. Remembers the latest ten
 * thousand. Thread-safe.
 */
final class Failures {
  private static final int REMEMBERED = 10_000;

  private final Map<UUID, Integer> here =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, Integer> eldest) {
          return size() > REMEMBERED;
        }
      };

  /** Counts one more, and returns how many there are. */
  synchronized int add(UUID id, Delivery delivery) {
    int before = Math.max(here.getOrDefault(id, 0), countedByBroker(delivery));
    here.put(id, before + 1);
    return before + 1;
  }

  synchronized void forget(UUID id) {
    here.remove(id);
  }

  private static int countedByBroker(Delivery delivery) {
    Map<String, Object> headers = delivery.getProperties().getHeaders();
    Object count = headers == null ? null : headers.get("x-delivery-count");
    return count instanceof Number number ? number.intValue() : 0;
  }
}
