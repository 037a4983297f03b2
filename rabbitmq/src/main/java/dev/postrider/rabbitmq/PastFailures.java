package dev.postrider.rabbitmq;

import com.rabbitmq.client.Delivery;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * How often a message failed before it came this time: here, if its answer did not reach the broker
 * then, or by ending the process that handled it. A quorum queue counts what a process that died
 * had, but most of that was only sent ahead. Thread-safe.
 */
final class PastFailures {
  /** An entry stays only if another consumer gets the message, so there are few. */
  private static final int MOST = 10_000;

  private final Map<UUID, Integer> here =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, Integer> eldest) {
          return size() > MOST;
        }
      };

  synchronized int of(UUID id) {
    return here.getOrDefault(id, 0);
  }

  synchronized void failed(UUID id, int failures) {
    here.put(id, failures);
  }

  synchronized void answered(UUID id) {
    here.remove(id);
  }

  /**
   * What one channel delivers. The queue gives back what a channel had in its order, so the first
   * that comes again is the one that was being handled. Those behind it were sent ahead. Used by
   * one thread at a time.
   */
  static final class OfChannel {
    private boolean over;

    /**
     * For a new channel.
     *
     * @param processIsNew whether what comes again may have ended the process before. If this one
     *     has had a connection, the loss of that ended no process
     */
    OfChannel(boolean processIsNew) {
      this.over = !processIsNew;
    }

    /** How many processes it may have ended. A classic queue does not count. */
    int deathsBy(Delivery delivery) {
      Map<String, Object> headers = delivery.getProperties().getHeaders();
      Object count = headers == null ? null : headers.get("x-delivery-count");
      int deliveries = count instanceof Number number ? number.intValue() : 0;
      if (over || deliveries == 0) {
        return 0;
      }
      over = true;
      return deliveries;
    }
  }
}
