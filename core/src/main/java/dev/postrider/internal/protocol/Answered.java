package dev.postrider.internal.protocol;

import dev.postrider.message.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a destination made of a claimed message.
 *
 * @param outcome null if the message was not sent at all and goes back as it was
 * @param deferral if not null, the message waits this long and no attempt is counted: a breaker is
 *     open, or the message was its probe
 * @param late whether the message had been given up already, for want of an answer in time
 */
public record Answered(
    Claimed claimed,
    @Nullable Outcome outcome,
    int latencyMs,
    @Nullable Duration deferral,
    boolean late) {

  /** Not sent: goes back as it was. */
  public static Answered unsent(Claimed claimed) {
    return new Answered(claimed, null, 0, null, false);
  }

  /** Not sent: waits this long. */
  public static Answered deferred(Claimed claimed, Duration deferral) {
    return new Answered(claimed, null, 0, deferral, false);
  }
}
