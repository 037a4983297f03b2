package dev.postrider.kafka;

import dev.postrider.dispatch.Destination.Answers;
import dev.postrider.message.Outcome;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Waits for what becomes of one record and answers for its message. Once: a producer in trouble may
 * both throw and call back. Thread-safe.
 */
final class Receipt implements Callback {
  private final UUID id;
  private final LiveProducer producer;
  private final Answers answers;
  private final AtomicBoolean answered = new AtomicBoolean();
  private volatile @Nullable Verdict failure;

  Receipt(UUID id, LiveProducer producer, Answers answers) {
    this.id = id;
    this.producer = producer;
    this.answers = answers;
  }

  @Override
  public void onCompletion(@Nullable RecordMetadata metadata, @Nullable Exception error) {
    if (error == null) {
      producer.acknowledged();
      // Without an offset: the broker had it already from an earlier try.
      boolean known = metadata != null && metadata.hasOffset();
      answer(known ? Outcome.delivered(String.valueOf(metadata)) : Outcome.delivered());
    } else {
      fail(producer.failed(error));
    }
  }

  void threw(RuntimeException error) {
    fail(producer.threw(error));
  }

  private void fail(Verdict verdict) {
    failure = verdict;
    answer(verdict.outcome());
  }

  private void answer(Outcome outcome) {
    if (answered.compareAndSet(false, true)) {
      answers.answer(id, outcome);
    }
  }

  /** Why it has failed, if it has. */
  @Nullable Verdict failure() {
    return failure;
  }
}
