package dev.postrider.message;

/**
 * A message under a lease.
 *
 * @param routeId the interned route
 * @param keyId the interned ordering key, 0 without one
 * @param lostLeases how many leases of this message ended without an answer
 * @param tid where its row in the queue lies, as the server writes it; a hint, for rows can move
 */
public record Claimed(Message message, int routeId, long keyId, int lostLeases, String tid) {
  public boolean ordered() {
    return keyId != 0;
  }
}
