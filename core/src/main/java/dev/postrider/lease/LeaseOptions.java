package dev.postrider.lease;

import dev.postrider.message.Backoff;
import dev.postrider.message.PostriderException;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How a lease store behaves. Immutable.
 *
 * @param retry what {@code nack} goes by, and whether a dead message's key waits
 * @param maxBytes cap on the payload bytes of one claim; a first message is taken whatever its size
 * @param timeout how long one statement may take; whole seconds
 * @param listener gets every outcome
 */
public record LeaseOptions(RetryPolicy retry, long maxBytes, Duration timeout, Listener listener) {

  /** Hears of outcomes, to count them. Called on the caller's thread: be quick. */
  @FunctionalInterface
  public interface Listener {
    void flushed(FlushOutcome outcome, int count);
  }

  /** 60 s doubling to 1 h, dead after 10, keys go on; 16 MiB a claim; 10 s a statement. */
  public static final LeaseOptions DEFAULT =
      new LeaseOptions(
          new RetryPolicy(Backoff.WORKER, 10, DeadPolicy.SKIP),
          16L << 20,
          Duration.ofSeconds(10),
          (outcome, count) -> {});

  public LeaseOptions {
    List<String> wrong = new ArrayList<>();
    if (maxBytes < 1) {
      wrong.add("maxBytes must be at least 1, got " + maxBytes);
    }
    if (timeout.toSeconds() < 1 || timeout.toSeconds() > 3600) {
      wrong.add("timeout must lie between 1 s and 1 h, got " + timeout);
    }
    if (!wrong.isEmpty()) {
      throw new PostriderException("lease store: " + String.join("; ", wrong));
    }
  }

  public LeaseOptions withRetry(RetryPolicy value) {
    return new LeaseOptions(value, maxBytes, timeout, listener);
  }

  public LeaseOptions withMaxBytes(long value) {
    return new LeaseOptions(retry, value, timeout, listener);
  }

  public LeaseOptions withTimeout(Duration value) {
    return new LeaseOptions(retry, maxBytes, value, listener);
  }

  public LeaseOptions withListener(Listener value) {
    return new LeaseOptions(retry, maxBytes, timeout, value);
  }
}
