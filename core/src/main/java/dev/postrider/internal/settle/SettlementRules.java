package dev.postrider.internal.settle;

import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.protocol.ClaimSettlement;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.internal.protocol.Protocol;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.message.Settlement.Decision;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Turns a destination's answer into what is recorded, by the topic's policy. */
public final class SettlementRules {
  /** Upper bound for Retry-After. */
  private static final Duration RETRY_AFTER_MAX = Duration.ofHours(24);

  private SettlementRules() {}

  public static ClaimSettlement of(Answered answered, RetryPolicy policy) {
    Claimed claimed = answered.claimed();
    Outcome outcome = answered.outcome();
    Duration deferral = answered.deferral();
    if (deferral != null) {
      return deferred(answered, outcome, deferral);
    }
    if (outcome == null || outcome instanceof Outcome.NotSent) {
      return ClaimSettlement.released(claimed);
    }
    if (outcome instanceof Outcome.Unavailable gone) {
      return ClaimSettlement.unavailable(claimed, answered.latencyMs(), gone.code(), gone.error());
    }
    if (outcome instanceof Outcome.Delivered delivered) {
      return ClaimSettlement.delivered(claimed, answered.latencyMs(), delivered.reference());
    }
    if (outcome instanceof Outcome.Terminal terminal) {
      return dead(answered, policy, terminal.code(), terminal.error());
    }
    Outcome.Retryable retry = (Outcome.Retryable) outcome;
    return claimed.message().attempt() >= policy.maxAttempts()
        ? dead(answered, policy, retry.code(), retry.error())
        : retry(answered, policy, retry);
  }

  /** A message whose relays died over it in as many attempts, in each of which it was alone. */
  public static boolean exhausted(Claimed claimed, RetryPolicy policy) {
    return claimed.lostLeases() >= Protocol.SUSPECT_AFTER + policy.maxAttempts();
  }

  private static ClaimSettlement deferred(
      Answered answered, @Nullable Outcome outcome, Duration deferral) {
    Claimed claimed = answered.claimed();
    int latencyMs = answered.latencyMs();
    if (outcome instanceof Outcome.Retryable retry) {
      Duration delay = atLeast(deferral, retry.retryAfter());
      return ClaimSettlement.deferred(claimed, latencyMs, delay, retry.code(), retry.error());
    }
    if (outcome instanceof Outcome.Unavailable gone) {
      return ClaimSettlement.deferred(claimed, latencyMs, deferral, gone.code(), gone.error());
    }
    return ClaimSettlement.deferred(claimed, latencyMs, deferral, null, null);
  }

  private static ClaimSettlement retry(
      Answered answered, RetryPolicy policy, Outcome.Retryable retry) {
    Duration delay = policy.backoff().delay(answered.claimed().message().attempt());
    return new ClaimSettlement(
        answered.claimed(),
        Decision.RETRY,
        answered.latencyMs(),
        atLeast(delay, retry.retryAfter()),
        retry.code(),
        retry.error(),
        null);
  }

  /** The delay, or what the destination asked for if that is longer. */
  private static Duration atLeast(Duration delay, @Nullable Duration asked) {
    if (asked == null || asked.compareTo(delay) <= 0) {
      return delay;
    }
    return asked.compareTo(RETRY_AFTER_MAX) > 0 ? RETRY_AFTER_MAX : asked;
  }

  private static ClaimSettlement dead(
      Answered answered, RetryPolicy policy, String code, String error) {
    boolean block = policy.onDead() == DeadPolicy.BLOCK && answered.claimed().ordered();
    return new ClaimSettlement(
        answered.claimed(),
        block ? Decision.DEAD_BLOCKING : Decision.DEAD,
        answered.latencyMs(),
        Duration.ZERO,
        code,
        error,
        null);
  }
}
