package dev.postrider.kafka;

import dev.postrider.dispatch.Destination.Answers;
import dev.postrider.kafka.Verdict.Scope;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import java.time.Duration;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Hands one batch to the client. The client blocks when its buffer is full, for each record;
 * together they may not, so whatever holds for all of them ends the batch: the rest is answered
 * without being sent. Used by one thread, except for records of topics that the client has to ask
 * for first.
 */
final class Shipment {
  private final LiveProducer producer;
  private final Shunned shunned;
  private final Answers answers;
  private final Duration maxBlock;
  private final Duration patience;
  private final long startNanos = System.nanoTime();
  private @Nullable Outcome ended;

  Shipment(LiveProducer producer, Shunned shunned, Answers answers, Duration maxBlock) {
    this.producer = producer;
    this.shunned = shunned;
    this.answers = answers;
    this.maxBlock = maxBlock;
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
    if (answer != null) {
      answers.answer(message.id(), answer);
    } else if (producer.topics().knows(record.topic())) {
      Verdict failure = send(message, record);
      if (failure != null
          && (failure.scope() == Scope.DESTINATION || failure.scope() == Scope.PRODUCER)) {
        ended = failure.outcome();
      }
    } else {
      askAndSend(message, record);
    }
  }

  /** Sends it when the topic is known: waiting for that here would hold up all other topics. */
  private void askAndSend(Message message, ProducerRecord<byte[], byte[]> record) {
    boolean asked =
        producer
            .topics()
            .whenKnown(
                record.topic(),
                wrong -> {
                  if (wrong == null) {
                    Verdict unused = send(message, record);
                  } else {
                    note(record.topic(), wrong);
                    answers.answer(message.id(), wrong.outcome());
                  }
                });
    if (!asked) {
      answers.answer(
          message.id(),
          Outcome.notSent(
              "kafka_topics_busy", "too many unknown topics are being asked for", maxBlock));
    }
  }

  /** What failed at once may have blocked: its topic is asked for before the next is sent. */
  private void note(String topic, Verdict failure) {
    if (failure.scope() != Scope.MESSAGE) {
      producer.topics().forget(topic);
    }
    if (failure.scope() == Scope.TOPIC) {
      shunned.add(topic, failure.outcome());
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
      answers.answer(message.id(), Outcome.retryable("kafka_envelope_threw", ErrorReport.of(e)));
    }
    return null;
  }

  /** Returns why it has failed, if it has at once. On any thread. */
  private @Nullable Verdict send(Message message, ProducerRecord<byte[], byte[]> record) {
    Receipt receipt = new Receipt(message.id(), producer, answers);
    try {
      producer.send(record, receipt);
    } catch (RuntimeException e) {
      receipt.threw(e);
    }
    Verdict failure = receipt.failure();
    if (failure != null) {
      note(record.topic(), failure);
    }
    return failure;
  }
}
