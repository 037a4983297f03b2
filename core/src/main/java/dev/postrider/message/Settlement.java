package dev.postrider.message;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What is to be recorded for a claimed message. */
public record Settlement(
    Claimed claimed,
    Decision decision,
    int latencyMs,
    Duration delay,
    @Nullable String code,
    @Nullable String error,
    @Nullable String reference) {

  /** The number is the one the settle function knows it by. */
  public enum Decision {
    DELIVERED(1),
    RETRY(2),
    DEAD(3),
    DEAD_BLOCKING(4),
    RELEASED(5),
    DEFERRED(6);

    private final short number;

    Decision(int number) {
      this.number = (short) number;
    }

    public short number() {
      return number;
    }
  }

  public static Settlement delivered(Claimed claimed, int latencyMs, @Nullable String reference) {
    return new Settlement(
        claimed, Decision.DELIVERED, latencyMs, Duration.ZERO, null, null, reference);
  }

  /** Goes back as it was: never sent. */
  public static Settlement released(Claimed claimed) {
    return new Settlement(claimed, Decision.RELEASED, 0, Duration.ZERO, null, null, null);
  }

  /**
   * Waits until its target, or the destination, is tried again; no attempt is counted.
   *
   * @param code null if it was not sent; otherwise the try is recorded
   */
  public static Settlement deferred(
      Claimed claimed,
      int latencyMs,
      Duration delay,
      @Nullable String code,
      @Nullable String error) {
    return new Settlement(claimed, Decision.DEFERRED, latencyMs, delay, code, error, null);
  }

  /** Goes back as it was, because the destination as a whole was not there. */
  public static Settlement unavailable(Claimed claimed, int latencyMs, String code, String error) {
    return new Settlement(claimed, Decision.RELEASED, latencyMs, Duration.ZERO, code, error, null);
  }
}
