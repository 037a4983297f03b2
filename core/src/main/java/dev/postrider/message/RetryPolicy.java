package dev.postrider.message;

/** What becomes of a message that fails; one per topic if wanted. Immutable. */
public record RetryPolicy(Backoff backoff, int maxAttempts, DeadPolicy onDead) {
  /** {@link Backoff#RELAY}, dead after 10 attempts, the key goes on. */
  public static final RetryPolicy DEFAULT = new RetryPolicy(Backoff.RELAY, 10, DeadPolicy.SKIP);

  /** What a key does when one of its messages is dead. */
  public enum DeadPolicy {
    /** The messages behind it go on. */
    SKIP,
    /** The key waits for an operator. */
    BLOCK
  }

  public RetryPolicy {
    if (maxAttempts < 1 || maxAttempts > 30_000) {
      throw new PostriderException("maxAttempts must lie in 1..30000, got " + maxAttempts);
    }
  }

  public RetryPolicy withBackoff(Backoff value) {
    return new RetryPolicy(value, maxAttempts, onDead);
  }

  public RetryPolicy withMaxAttempts(int value) {
    return new RetryPolicy(backoff, value, onDead);
  }

  public RetryPolicy withOnDead(DeadPolicy value) {
    return new RetryPolicy(backoff, maxAttempts, value);
  }
}
