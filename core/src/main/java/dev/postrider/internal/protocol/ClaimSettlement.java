package dev.postrider.internal.protocol;

import dev.postrider.message.Message;
import dev.postrider.message.Settlement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What is to be recorded for a claimed message. Immutable. */
public record ClaimSettlement(
    Claimed claimed,
    Decision decision,
    int latencyMs,
    Duration delay,
    @Nullable String code,
    @Nullable String error,
    @Nullable String reference)
    implements Settlement {
  @Override
  public Message message() {
    return claimed.message();
  }

  public static ClaimSettlement delivered(
      Claimed claimed, int latencyMs, @Nullable String reference) {
    return new ClaimSettlement(
        claimed, Decision.DELIVERED, latencyMs, Duration.ZERO, null, null, reference);
  }

  /** Goes back as it was: never sent. */
  public static ClaimSettlement released(Claimed claimed) {
    return new ClaimSettlement(claimed, Decision.RELEASED, 0, Duration.ZERO, null, null, null);
  }

  /**
   * Waits until its target, or the destination, is tried again; no attempt is counted.
   *
   * @param code null if it was not sent; otherwise the try is recorded
   */
  public static ClaimSettlement deferred(
      Claimed claimed,
      int latencyMs,
      Duration delay,
      @Nullable String code,
      @Nullable String error) {
    return new ClaimSettlement(claimed, Decision.DEFERRED, latencyMs, delay, code, error, null);
  }

  /** Goes back as it was, because the destination as a whole was not there. */
  public static ClaimSettlement unavailable(
      Claimed claimed, int latencyMs, String code, String error) {
    return new ClaimSettlement(
        claimed, Decision.RELEASED, latencyMs, Duration.ZERO, code, error, null);
  }
}
