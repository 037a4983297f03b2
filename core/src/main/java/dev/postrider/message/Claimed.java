package dev.postrider.message;

/**
 * A message under a lease.
 *
 * @param routeId the interned route, with lane and id the key of its row in the queue
 * @param keyId the interned ordering key, 0 without one
 * @param tid where the row lies, as the server writes it; no more than a hint, for rows can move
 */
public record Claimed(Message message, int routeId, short lane, long keyId, String tid) {
  public boolean ordered() {
    return keyId != 0;
  }
}
