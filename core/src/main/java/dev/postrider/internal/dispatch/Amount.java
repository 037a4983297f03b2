package dev.postrider.internal.dispatch;

import dev.postrider.internal.protocol.Claimed;

/** So many messages with so many bytes of payload and headers. */
public record Amount(int messages, long bytes) {
  public static final Amount NONE = new Amount(0, 0);

  public Amount plus(Claimed claimed) {
    return new Amount(messages + 1, bytes + claimed.bytes());
  }
}
