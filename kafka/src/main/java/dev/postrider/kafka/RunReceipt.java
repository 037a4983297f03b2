package dev.postrider.kafka;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Waits for what becomes of one record of a run. The client calls back from the thread that sends
 * if it did not take the record, and from its own thread otherwise. Thread-safe.
 */
final class RunReceipt implements Callback {
  final OrderingKey key;
  final int place;
  final long bytes;
  private final Message message;
  private final FailStop producer;
  private final Answers answers;
  private final Thread sender = Thread.currentThread();
  private final AtomicBoolean over = new AtomicBoolean();
  private @Nullable Exception notTaken;

  /**
   * For a record that this thread is about to send.
   *
   * @param place in its run
   * @param bytes of its record
   */
  RunReceipt(
      OrderingKey key, int place, long bytes, Message message, FailStop producer, Answers answers) {
    this.key = key;
    this.place = place;
    this.bytes = bytes;
    this.message = message;
    this.producer = producer;
    this.answers = answers;
  }

  @Override
  public void onCompletion(@Nullable RecordMetadata metadata, @Nullable Exception error) {
    if (error == null) {
      // Without an offset: the broker had it already from an earlier try.
      boolean known = metadata != null && metadata.hasOffset();
      producer.acknowledged(
          this,
          metadata,
          known ? Outcome.delivered(String.valueOf(metadata)) : Outcome.delivered());
    } else if (Thread.currentThread() == sender) {
      notTaken = error;
    } else {
      producer.failed(this, error, metadata);
    }
  }

  /** Why the client did not take the record; null if it did. For the thread that sent it. */
  @Nullable Exception notTaken() {
    return notTaken;
  }

  /** True once: a client in trouble may both throw and call back. */
  boolean isFirst() {
    return over.compareAndSet(false, true);
  }

  UUID id() {
    return message.id();
  }

  void answer(Outcome outcome) {
    answers.answer(message.id(), outcome);
  }
}
