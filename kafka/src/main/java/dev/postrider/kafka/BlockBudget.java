package dev.postrider.kafka;

import dev.postrider.message.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long the client may block for one batch. It blocks when its buffer is full, for each record;
 * together they may not. Thread-safe.
 */
final class BlockBudget {
  private final Duration most;
  private final long startNanos = System.nanoTime();

  BlockBudget(Duration maxBlock) {
    this.most = maxBlock.multipliedBy(2);
  }

  /** The answer for messages that are not sent because it is used up; null if it is not. */
  @Nullable Outcome exhausted() {
    return System.nanoTime() - startNanos > most.toNanos()
        ? Outcome.unavailable("kafka_busy", "the client blocked for more than " + most)
        : null;
  }
}
