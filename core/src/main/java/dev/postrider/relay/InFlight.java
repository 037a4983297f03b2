package dev.postrider.relay;

import dev.postrider.internal.dispatch.LeaseClock;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.protocol.ClaimSettlement;
import dev.postrider.internal.protocol.Claimed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The messages that one carrier has claimed and not settled, and the answers that wait to be
 * settled. Used by the carrier's thread; {@link #answered} and {@link #leases} may come from
 * others.
 */
final class InFlight {
  private static final long LINGER_NANOS = 5_000_000;

  private final int batchSize;
  private final Duration lease;
  private final LongSupplier nanoTime;
  private final LinkedBlockingQueue<Answered> answers = new LinkedBlockingQueue<>();
  private final Map<Long, Claim> claims = new ConcurrentHashMap<>();
  private long gatheringSinceNanos;

  /** A claim with messages that are not settled. */
  private static final class Claim {
    final LeaseClock clock;
    int open;

    Claim(LeaseClock clock) {
      this.clock = clock;
    }
  }

  /**
   * @param nanoTime nanoseconds, from any origin
   */
  InFlight(int batchSize, Duration lease, LongSupplier nanoTime) {
    this.batchSize = batchSize;
    this.lease = lease;
    this.nanoTime = nanoTime;
  }

  /** Adds a claimed message; returns the clock of its lease. */
  LeaseClock add(Claimed claimed, long askedAtNanos) {
    Claim claim =
        claims.computeIfAbsent(
            claimed.message().token(),
            token -> new Claim(new LeaseClock(token, askedAtNanos, lease)));
    claim.open++;
    return claim.clock;
  }

  /** Takes an answer from any thread. */
  void answered(Answered answer) {
    answers.add(answer);
  }

  /**
   * How long to wait for more answers before settling those that came. The messages of a key are
   * answered one after the other: settled as they come, each would be a transaction of its own.
   */
  Duration linger() {
    int waiting = answers.size();
    int open = 0;
    for (Claim claim : claims.values()) {
      open += claim.open;
    }
    if (waiting == 0 || waiting >= Math.min(open, batchSize)) {
      return Duration.ZERO;
    }
    long now = nanoTime.getAsLong();
    if (gatheringSinceNanos == 0) {
      gatheringSinceNanos = now;
    }
    return Duration.ofNanos(Math.max(0, gatheringSinceNanos + LINGER_NANOS - now));
  }

  /**
   * Takes the answers that can be settled together. One call settles a message once, so a late
   * answer waits if the message's timeout is among them.
   */
  List<ClaimSettlement> takeAnswers(Function<Answered, ClaimSettlement> verdict) {
    gatheringSinceNanos = 0;
    List<ClaimSettlement> settlements = new ArrayList<>();
    for (Answered answer = answers.peek();
        answer != null && settlements.size() < 4 * batchSize;
        answer = answers.peek()) {
      if (answer.late() && contains(settlements, answer.claimed().message().id())) {
        break;
      }
      answers.remove();
      Claim claim = claims.get(answer.claimed().message().token());
      if (answer.late() && claim != null) {
        claim.open++;
      }
      settlements.add(verdict.apply(answer));
    }
    return settlements;
  }

  private static boolean contains(List<ClaimSettlement> settlements, UUID id) {
    return settlements.stream().anyMatch(s -> s.claimed().message().id().equals(id));
  }

  void settled(Claimed claimed) {
    long token = claimed.message().token();
    Claim claim = claims.get(token);
    if (claim != null && --claim.open == 0) {
      claims.remove(token);
    }
  }

  boolean isEmpty() {
    return claims.isEmpty();
  }

  Set<Long> tokens() {
    return claims.keySet();
  }

  /** The clocks of all claims that are not settled. */
  List<LeaseClock> leases() {
    return claims.values().stream().map(claim -> claim.clock).toList();
  }

  /** Gives all claims up: their leases are not renewed, and other relays take them over. */
  void abandon() {
    claims.clear();
  }
}
