package dev.postrider.message;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a destination answers for one message. Immutable. */
public sealed interface Outcome {

  /** The destination has it. */
  static Outcome delivered() {
    return Delivered.PLAIN;
  }

  /** The destination has it, and calls it by this reference. */
  static Outcome delivered(String reference) {
    return new Delivered(reference);
  }

  /** Its target failed. It may work later; the retry policy decides when, and when to give up. */
  static Outcome retryable(String code, String error) {
    return new Retryable(code, error, null);
  }

  /** It may work after the delay that the destination asked for. */
  static Outcome retryable(String code, String error, Duration retryAfter) {
    return new Retryable(code, error, retryAfter);
  }

  /** It never will: dead at once. */
  static Outcome terminal(String code, String error) {
    return new Terminal(code, error);
  }

  /** The destination as a whole could not be reached: no attempt is counted. */
  static Outcome unavailable(String code, String error) {
    return new Unavailable(code, error);
  }

  /**
   * It was not sent, and neither the message nor the destination is to blame: it comes again after
   * one to two times the delay, no attempt is counted and no breaker changes.
   *
   * @param delay from 50 ms to 24 h; other values are moved to the nearer limit
   */
  static Outcome notSent(String code, String error, Duration delay) {
    return new NotSent(code, error, delay);
  }

  record Delivered(@Nullable String reference) implements Outcome {
    private static final Delivered PLAIN = new Delivered(null);
  }

  record Retryable(String code, String error, @Nullable Duration retryAfter) implements Outcome {}

  record Terminal(String code, String error) implements Outcome {}

  record Unavailable(String code, String error) implements Outcome {}

  record NotSent(String code, String error, Duration delay) implements Outcome {
    private static final Duration LEAST = Duration.ofMillis(50);
    private static final Duration MOST = Duration.ofHours(24);

    /** A destination computes the delay, perhaps from a time that is over: any of them is good. */
    public NotSent {
      if (delay == null || delay.compareTo(LEAST) < 0) {
        delay = LEAST;
      } else if (delay.compareTo(MOST) > 0) {
        delay = MOST;
      }
    }
  }
}
