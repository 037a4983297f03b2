package dev.postrider.kafka;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.kafka.SendFailure.Scope;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * Waits for what becomes of one record and answers for its message. Once: a producer in trouble may
 * both throw and call back. Thread-safe.
 */
final class Receipt implements Callback {
  private static final Outcome REFUSED_BATCH =
      Outcome.notSent(
          "kafka_aborted", "another record of its batch was refused", Duration.ofMillis(50));

  private final UUID id;
  private final LiveProducer producer;
  private final Answers answers;
  private final AtomicBoolean answered = new AtomicBoolean();
  private volatile @Nullable SendFailure failure;

  Receipt(UUID id, LiveProducer producer, Answers answers) {
    this.id = id;
    this.producer = producer;
    this.answers = answers;
  }

  @Override
  public void onCompletion(@Nullable RecordMetadata metadata, @Nullable Exception error) {
    if (error == null) {
      producer.acknowledged(id, metadata);
      // Without an offset: the broker had it already from an earlier try.
      boolean known = metadata != null && metadata.hasOffset();
      answer(known ? Outcome.delivered(String.valueOf(metadata)) : Outcome.delivered());
    } else {
      SendFailure sendFailure = producer.failed(id, error, metadata);
      fail(
          isInnocent(error, sendFailure)
              ? new SendFailure(REFUSED_BATCH, Scope.UNKNOWN)
              : sendFailure);
    }
  }

  /**
   * Of a batch that is refused for a record in it, the client gives the others no error of theirs.
   */
  private static boolean isInnocent(Exception error, SendFailure sendFailure) {
    return sendFailure.scope() == Scope.UNKNOWN && error.getClass() == KafkaException.class;
  }

  void threw(Throwable error) {
    fail(producer.threw(error));
  }

  private void fail(SendFailure sendFailure) {
    failure = sendFailure;
    answer(sendFailure.outcome());
  }

  private void answer(Outcome outcome) {
    if (answered.compareAndSet(false, true)) {
      answers.answer(id, outcome);
    }
  }

  /** Why it has failed, if it has. */
  @Nullable SendFailure failure() {
    return failure;
  }
}
