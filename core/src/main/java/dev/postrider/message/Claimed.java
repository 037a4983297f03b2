package dev.postrider.message;

/**
 * A message under a lease.
 *
 * @param routeId the interned route, with lane the row's place in the queue
 * @param keyId the interned ordering key, 0 without one
 */
public record Claimed(Message message, int routeId, short lane, long keyId) {
  public boolean ordered() {
    return keyId != 0;
  }
}
