package dev.postrider.kafka;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.kafka.SendFailure.Scope;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.Objects;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Hands the single messages of one batch to the client, of each key at most one. Whatever holds for
 * all of them ends the batch: the rest is answered without being sent. Used by one thread, except
 * for records of topics that the client has to ask for first.
 */
final class SendBatch {
  private final LiveProducer producer;
  private final UnreachableTopics unreachable;
  private final Answers answers;
  private final Duration maxBlock;
  private final BlockBudget budget;
  private volatile @Nullable Outcome ended;

  SendBatch(
      LiveProducer producer,
      UnreachableTopics unreachable,
      Answers answers,
      Duration maxBlock,
      BlockBudget budget) {
    this.producer = producer;
    this.unreachable = unreachable;
    this.answers = answers;
    this.maxBlock = maxBlock;
    this.budget = budget;
  }

  void send(Message message, Records records) {
    if (endedFor(message)) {
      return;
    }
    Records.Made made = records.make(message);
    ProducerRecord<byte[], byte[]> record = made.record();
    if (record == null) {
      answers.answer(message.id(), Objects.requireNonNull(made.refused()));
      return;
    }
    Outcome answer = unreachable.answerFor(record.topic());
    if (answer != null) {
      answers.answer(message.id(), answer);
    } else if (producer.topics().knows(record.topic())) {
      send(message, record);
    } else {
      askAndSend(message, record);
    }
  }

  /** Whether nothing of the batch is sent any more; then the message is answered. */
  private boolean endedFor(Message message) {
    Outcome end = ended;
    end = end == null ? budget.exhausted() : end;
    if (end != null) {
      answers.answer(message.id(), end);
    }
    return end != null;
  }

  /** Sends it when the topic is known: waiting for that here would hold up all other topics. */
  private void askAndSend(Message message, ProducerRecord<byte[], byte[]> record) {
    boolean asked =
        producer
            .topics()
            .whenKnown(
                record.topic(),
                wrong -> {
                  if (wrong != null) {
                    producer.note(record.topic(), wrong, unreachable);
                    answers.answer(message.id(), wrong.outcome());
                  } else if (!endedFor(message)) {
                    send(message, record);
                  }
                });
    if (!asked) {
      answers.answer(
          message.id(),
          Outcome.notSent(
              "kafka_topics_busy", "too many unknown topics are being asked for", maxBlock));
    }
  }

  /** On any thread. */
  private void send(Message message, ProducerRecord<byte[], byte[]> record) {
    Outcome away = producer.away(record);
    if (away != null) {
      answers.answer(message.id(), away);
      return;
    }
    Receipt receipt = new Receipt(message.id(), producer, answers);
    try {
      producer.send(record, receipt);
    } catch (RuntimeException | Error e) {
      receipt.threw(e);
    }
    SendFailure failure = receipt.failure();
    if (failure != null) {
      producer.note(record.topic(), failure, unreachable);
      if (failure.scope() == Scope.DESTINATION || failure.scope() == Scope.PRODUCER) {
        ended = failure.outcome();
      }
    }
  }
}
