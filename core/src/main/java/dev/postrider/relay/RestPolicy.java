package dev.postrider.relay;

import dev.postrider.internal.protocol.Claimed;
import dev.postrider.internal.wake.Wakeup;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Decides when a carrier claims, looks for topics, sleeps, and asks producers to ring. It reads no
 * clock but its own and does no work, so a test can step it. Not thread-safe.
 *
 * <p>What a poll makes it look for takes at most a tenth of the time: after a look that found
 * nothing it rests for nine times as long. A signal ends that rest, and the looks after a signal
 * follow each other at once.
 */
final class RestPolicy {
  private static final long BUSY_NANOS = 50_000_000;
  private static final long DEBOUNCE_NANOS = 1_000_000;
  private static final long ANSWER_SOON_NANOS = 10_000_000;
  private static final int MAX_EMPTY_LOOKS = 64;
  private static final int MAX_VAIN_CLAIMS = 4;
  private static final int REST_PER_LOOK = 9;
  private static final Duration LONGEST_REST = Duration.ofMinutes(1);
  private static final Duration ROOM_AGAIN = Duration.ofMillis(50);

  /** Another relay fans a topic out: it takes a few milliseconds. */
  private static final Duration FAN_OUT_AGAIN = Duration.ofMillis(5);

  private static final Duration UNWOKEN = Duration.ofHours(1);

  private final boolean lead;
  private final boolean listen;
  private final Duration pollInterval;
  private final LongSupplier nanoTime;

  private boolean hungry = true;
  private boolean armed;
  private boolean discover;
  private boolean localLook;
  private int emptyLooks;
  private int vainClaims;
  private int callsToIgnore;
  private long busySinceNanos;
  private long exchangedAtNanos;
  private long rungAtNanos;
  private boolean polled;
  private Duration searched = Duration.ZERO;
  private long restUntilNanos;
  private long lookedAtNanos;

  /**
   * @param lead whether this carrier polls and asks producers to ring; the others wait to be called
   * @param listen whether the relay uses the doorbell
   * @param nanoTime nanoseconds, from any origin
   */
  RestPolicy(boolean lead, boolean listen, Duration pollInterval, LongSupplier nanoTime) {
    this.lead = lead;
    this.listen = listen;
    this.pollInterval = pollInterval;
    this.nanoTime = nanoTime;
    long now = nanoTime.getAsLong();
    this.rungAtNanos = now - DEBOUNCE_NANOS;
    this.restUntilNanos = now;
    this.lookedAtNanos = now;
  }

  /** What a carrier does next if it has nothing to settle and nothing to claim. */
  sealed interface Rest {
    /** Ask producers to ring, then look once more. */
    record Arm() implements Rest {}

    /** Wait for this long. */
    record Pause(Duration time) implements Rest {}

    /**
     * Wait for a signal.
     *
     * @param brief whether the end of the time is no reason to look for topics
     */
    record Await(Duration time, boolean brief) implements Rest {}
  }

  /** Whether to claim, also if nothing is to be settled. */
  boolean hungry() {
    return hungry && !resting();
  }

  private boolean resting() {
    return polled && nanoTime.getAsLong() - restUntilNanos < 0;
  }

  /** Whether to look for topics with messages. */
  boolean discover() {
    return discover;
  }

  /** A carrier that finds a new topic claims from it: the ring may have come to nobody else. */
  void discovered(boolean becameReady, Duration took) {
    discover = false;
    searched = searched.plus(took);
    if (becameReady) {
      hungry = true;
      restUntilNanos = nanoTime.getAsLong();
    }
  }

  void fannedOut() {
    hungry = true;
    restUntilNanos = nanoTime.getAsLong();
  }

  /**
   * Takes note of an exchange.
   *
   * @param settled whether it settled something: what was behind it may be claimable now
   * @param claims whether it claimed at all
   * @param discoveryDue whether the last search for topics is long enough ago
   */
  void exchanged(Exchange.Result result, boolean settled, boolean claims, boolean discoveryDue) {
    List<Claimed> claimed = result.claimed();
    exchangedAtNanos = nanoTime.getAsLong();
    if (claims) {
      looked(claimed.isEmpty() ? searched.plus(result.searched()) : Duration.ZERO);
    }
    boolean again = looksAgain(result) || mayBeMore(claimed);
    hungry = result.full() || again || (!claims && (hungry || settled));
    if (claims) {
      // A carrier that is called while another one carries all there is, a single hot key say,
      // would claim in vain each time. After several such calls it lets most of them pass.
      vainClaims = claimed.isEmpty() ? Math.min(vainClaims + 1, MAX_VAIN_CLAIMS) : 0;
      callsToIgnore = lead ? 0 : (1 << vainClaims) - 1;
    }
    // Nobody rings while the bell is down, and a producer in this process does not say for what.
    if (localLook && claimed.isEmpty()) {
      discover = true;
      hungry = true;
    }
    localLook = false;
    discover |= !armed && discoveryDue;
  }

  /** The rest after a look that took so long for nothing. */
  private void looked(Duration inVain) {
    lookedAtNanos = nanoTime.getAsLong();
    Duration rest = inVain.multipliedBy(REST_PER_LOOK);
    restUntilNanos =
        lookedAtNanos + (rest.compareTo(LONGEST_REST) < 0 ? rest : LONGEST_REST).toNanos();
    searched = Duration.ZERO;
  }

  /** A claim that saw only a part is followed by another, but not for ever if it finds nothing. */
  private boolean looksAgain(Exchange.Result result) {
    emptyLooks = result.claimed().isEmpty() ? emptyLooks + 1 : 0;
    return result.partial() && emptyLooks < MAX_EMPTY_LOOKS;
  }

  /**
   * After a claim that was not full: a few messages without a key were all there were, and what
   * comes later rings while the bell is up. One that was too large to go with them is found with
   * their settlement.
   */
  private boolean mayBeMore(List<Claimed> claimed) {
    return !claimed.isEmpty() && (!armed || claimed.stream().anyMatch(Claimed::ordered));
  }

  /** Whether nobody needs to ring any more, because work keeps coming. */
  boolean shouldDisarm(boolean claimedSomething) {
    if (!lead || !armed) {
      return false;
    }
    long now = nanoTime.getAsLong();
    if (!claimedSomething || busySinceNanos == 0) {
      busySinceNanos = claimedSomething ? now : 0;
      return false;
    }
    return now - busySinceNanos > BUSY_NANOS;
  }

  void disarmed() {
    armed = false;
  }

  /**
   * Decides how to rest.
   *
   * @param serves whether there is a topic to claim from
   * @param inFlight whether messages are not settled: their answers come soon, and then there is
   *     something to claim again. To arm meanwhile would be two transactions for nothing.
   * @param fanOutDue whether messages wait to be fanned out
   * @param leftOut whether some of those it serves had no room in the last look
   */
  Rest rest(
      boolean serves, boolean inFlight, boolean fanOutDue, boolean leftOut, boolean stopping) {
    hungry &= serves;
    if (!hungry()) {
      busySinceNanos = 0; // not while it waits for room with work at hand
    }
    long now = nanoTime.getAsLong();
    long answerSoon = inFlight ? exchangedAtNanos + ANSWER_SOON_NANOS - now : 0;
    if (lead && listen && !hungry() && !armed && !stopping && answerSoon <= 0) {
      return new Rest.Arm();
    }
    if (!searched.isZero()) {
      looked(searched); // for topics, and there was none
    }
    if (lead && fanOutDue && !stopping) {
      return new Rest.Pause(FAN_OUT_AGAIN);
    }
    if (answerSoon > 0 && !armed) {
      return new Rest.Await(Duration.ofNanos(answerSoon), true);
    }
    return await(now, leftOut);
  }

  private Rest.Await await(long now, boolean leftOut) {
    Duration longest = lead ? pollInterval : UNWOKEN;
    long rest = restUntilNanos - now;
    long poll = Math.max(lookedAtNanos + longest.toNanos() - now, rest);
    long next = poll;
    // Another carrier's claim may have set the room aside that this one wants.
    if (hungry() || leftOut) {
      next = Math.min(next, ROOM_AGAIN.toNanos());
    }
    if (hungry && resting()) {
      next = Math.min(next, rest);
    }
    return new Rest.Await(Duration.ofNanos(Math.max(next, 0)), next < poll);
  }

  /**
   * Takes note of the try to arm. After it the carrier looks once more: what committed before the
   * flag went up did not ring. Also if another relay raised it: that one looks for its own routes
   * only.
   */
  void armed(boolean done) {
    armed = done;
    discover = true;
    hungry = done;
    restUntilNanos = nanoTime.getAsLong();
  }

  /** How long to wait after a ring: the first of a burst wakes at once, the others together. */
  Duration debounce() {
    long early = DEBOUNCE_NANOS - (nanoTime.getAsLong() - rungAtNanos);
    return Duration.ofNanos(Math.max(0, early));
  }

  /**
   * Takes note of a ring, after the wait.
   *
   * @param unknown whether it may be for a topic that was never met
   */
  void rung(boolean unknown) {
    rungAtNanos = nanoTime.getAsLong();
    discover |= unknown;
  }

  /** Routes or pauses changed. */
  void controlled() {
    discover = true;
  }

  /** Takes note of the end of a wait; returns what made the carrier look for work. */
  List<String> woken(Rest.Await wait, Set<Wakeup.Reason> reasons) {
    if (reasons.isEmpty() && wait.brief()) {
      return List.of();
    }
    emptyLooks = 0;
    polled = reasons.isEmpty();
    if (polled) {
      lookedAtNanos = nanoTime.getAsLong();
      discover = true;
      // Another relay may have lowered the flag meanwhile: raise it first, then look.
      hungry = !armed || !lead;
      armed = false;
      return List.of("poll");
    }
    localLook = reasons.contains(Wakeup.Reason.LOCAL);
    List<String> heard =
        reasons.stream().filter(reason -> !ignores(reason)).map(Wakeup.Reason::label).toList();
    hungry |= !heard.isEmpty();
    return heard;
  }

  private boolean ignores(Wakeup.Reason reason) {
    return switch (reason) {
      case ANSWER -> true;
      case HELP -> callsToIgnore-- > 0;
      default -> false;
    };
  }
}
