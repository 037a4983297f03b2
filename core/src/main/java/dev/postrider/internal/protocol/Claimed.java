package dev.postrider.internal.protocol;

import dev.postrider.message.Message;
import java.util.Map;

/**
 * A message under a lease.
 *
 * @param routeId the interned route
 * @param keyId the interned ordering key, 0 without one
 * @param lostLeases how many leases of this message ended without an answer
 * @param tid the place of its row in the queue, as the server writes it; only a hint, because rows
 *     move
 */
public record Claimed(Message message, int routeId, long keyId, int lostLeases, String tid) {
  public boolean ordered() {
    return keyId != 0;
  }

  /** Bytes of payload and headers, about as much as it takes in memory. */
  public long bytes() {
    long sum = message.payload().length;
    for (Map.Entry<String, String> header : message.headers().entrySet()) {
      sum += header.getKey().length() + header.getValue().length();
    }
    return sum;
  }
}
