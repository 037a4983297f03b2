package dev.postrider.kafka;

import dev.postrider.dispatch.Destination.Answers;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import java.time.Duration;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Hands one batch to the client. The client may block for each record; together they may not, so
 * whatever holds for all of them ends the batch: the rest is answered without being sent. Used by
 * one thread.
 */
final class Shipment {
  private final LiveProducer producer;
  private final Shunned shunned;
  private final Answers answers;
  private final Duration patience;
  private final long startNanos = System.nanoTime();
  private @Nullable Outcome ended;

  Shipment(LiveProducer producer, Shunned shunned, Answers answers, Duration maxBlock) {
    this.producer = producer;
    this.shunned = shunned;
    this.answers = answers;
    this.patience = maxBlock.multipliedBy(2);
  }

  void send(Message message, Records records) {
    Outcome end = ended;
    if (end == null && System.nanoTime() - startNanos > patience.toNanos()) {
      end = Outcome.unavailable("kafka_busy", "the client blocked for more than " + patience);
      ended = end;
    }
    if (end != null) {
      answers.answer(message.id(), end);
      return;
    }
    ProducerRecord<byte[], byte[]> record = record(message, records);
    if (record == null) {
      return;
    }
    Outcome answer = shunned.answerFor(record.topic());
    if (answer == null) {
      send(message, record);
    } else {
      answers.answer(message.id(), answer);
    }
  }

  /** Null if there is none, and the message is answered. */
  private @Nullable ProducerRecord<byte[], byte[]> record(Message message, Records records) {
    try {
      return records.of(message);
    } catch (PostriderException e) {
      String error = String.valueOf(e.getMessage());
      answers.answer(message.id(), Outcome.terminal("kafka_not_addressed", error));
    } catch (RuntimeException e) {
      // A user's envelope: its message fails, the others of the batch do not.
      answers.answer(message.id(), Outcome.retryable("kafka_envelope_threw", e.toString()));
    }
    return null;
  }

  private void send(Message message, ProducerRecord<byte[], byte[]> record) {
    Receipt receipt = new Receipt(message.id(), producer, answers);
    try {
      producer.send(record, receipt);
    } catch (RuntimeException e) {
      receipt.threw(e);
    }
    Verdict failure = receipt.failure();
    if (failure != null) {
      switch (failure.scope()) {
        case TOPIC -> shunned.add(record.topic(), failure.outcome());
        case DESTINATION, PRODUCER -> ended = failure.outcome();
        case MESSAGE, UNKNOWN -> {}
      }
    }
  }
}
