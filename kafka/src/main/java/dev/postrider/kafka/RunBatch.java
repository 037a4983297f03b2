package dev.postrider.kafka;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.kafka.SendFailure.Scope;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Hands runs of keys to one producer. A run goes to one topic; what does not ends it. After a
 * message that is not sent, none of its run is. Used by one thread, except for runs to topics that
 * the client has to ask for first.
 */
final class RunBatch {
  private static final Duration SOON = Duration.ofMillis(100);

  private final FailStop producer;
  private final UnreachableTopics unreachable;
  private final Answers answers;
  private final BlockBudget budget;
  private final Consumer<Message> singly;
  private volatile @Nullable Outcome ended;

  /**
   * For one batch.
   *
   * @param singly sends and answers a message apart from runs
   */
  RunBatch(
      FailStop producer,
      UnreachableTopics unreachable,
      Answers answers,
      BlockBudget budget,
      Consumer<Message> singly) {
    this.producer = producer;
    this.unreachable = unreachable;
    this.answers = answers;
    this.budget = budget;
    this.singly = singly;
  }

  private record Item(Message message, ProducerRecord<byte[], byte[]> record) {
    long bytes() {
      long sum = record.value().length;
      for (Header header : record.headers()) {
        sum += header.key().length() + header.value().length;
      }
      return sum;
    }
  }

  /** Answers for messages of which none was sent: only the first can be to blame. */
  static void answer(Answers answers, List<Message> unsent, Outcome first) {
    Outcome rest = first instanceof Outcome.Unavailable ? first : FailStop.BEHIND;
    for (int i = 0; i < unsent.size(); i++) {
      answers.answer(unsent.get(i).id(), i == 0 ? first : rest);
    }
  }

  void send(OrderingKey key, List<Message> run, Records records) {
    List<Item> items = items(run, records);
    if (items.isEmpty()) {
      return;
    }
    String topic = items.get(0).record().topic();
    Outcome obstacle = end();
    obstacle = obstacle == null ? unreachable.answerFor(topic) : obstacle;
    if (obstacle != null) {
      answer(answers, messages(items, 0), obstacle);
    } else if (producer.producer().topics().knows(topic)) {
      send(key, items);
    } else {
      askAndSend(key, topic, items);
    }
  }

  /** Why nothing of the batch is sent any more; null if it is. */
  private @Nullable Outcome end() {
    Outcome end = ended;
    return end == null ? budget.exhausted() : end;
  }

  /** The messages up to the first that has no record, or another topic; the rest is answered. */
  private List<Item> items(List<Message> run, Records records) {
    List<Item> items = new ArrayList<>(run.size());
    for (int i = 0; i < run.size(); i++) {
      Records.Made made = records.make(run.get(i));
      ProducerRecord<byte[], byte[]> record = made.record();
      if (record == null) {
        answer(answers, run.subList(i, run.size()), Objects.requireNonNull(made.refused()));
        return items;
      }
      if (!items.isEmpty() && !items.get(0).record().topic().equals(record.topic())) {
        answer(answers, run.subList(i, run.size()), FailStop.BEHIND);
        return items;
      }
      items.add(new Item(run.get(i), record));
    }
    return items;
  }

  private static List<Message> messages(List<Item> items, int from) {
    return items.subList(from, items.size()).stream().map(Item::message).toList();
  }

  /** Sends it when the topic is known: waiting for that here would hold up all other topics. */
  private void askAndSend(OrderingKey key, String topic, List<Item> items) {
    LiveProducer live = producer.producer();
    boolean asked =
        live.topics()
            .whenKnown(
                topic,
                wrong -> {
                  Outcome end = end();
                  if (wrong != null) {
                    live.note(topic, wrong, unreachable);
                    answer(answers, messages(items, 0), wrong.outcome());
                  } else if (end != null) {
                    answer(answers, messages(items, 0), end);
                  } else {
                    send(key, items);
                  }
                });
    if (!asked) {
      Outcome busy =
          Outcome.notSent("kafka_topics_busy", "too many unknown topics are being asked for", SOON);
      answer(answers, messages(items, 0), busy);
    }
  }

  private void send(OrderingKey key, List<Item> items) {
    if (producer.producer().isAway(items.get(0).record())) {
      // The ordinary producer answers it or tries it: here a time-out would stop healthy keys.
      producer.goesSingly(key);
      messages(items, 1).forEach(message -> answers.answer(message.id(), FailStop.BEHIND));
      singly.accept(items.get(0).message());
      return;
    }
    for (int i = 0; i < items.size(); i++) {
      Item item = items.get(i);
      long bytes = item.bytes();
      Outcome refused = producer.begin(bytes);
      if (refused == null
          && sendOne(new RunReceipt(key, i, bytes, item.message(), producer, answers), item)) {
        continue;
      }
      if (refused != null) {
        answer(answers, messages(items, i), refused);
      } else {
        Outcome end = ended;
        Outcome rest = end instanceof Outcome.Unavailable ? end : FailStop.BEHIND;
        messages(items, i + 1).forEach(message -> answers.answer(message.id(), rest));
      }
      return;
    }
  }

  /** Returns whether the client has taken it; if not, it is answered. */
  private boolean sendOne(RunReceipt receipt, Item item) {
    Throwable notTaken = null;
    boolean thrown = false;
    try {
      producer.producer().send(item.record(), receipt);
    } catch (RuntimeException | Error e) {
      notTaken = e;
      thrown = true;
    }
    if (receipt.notTaken() != null) {
      notTaken = receipt.notTaken();
      thrown = false;
    }
    if (notTaken == null) {
      return true;
    }
    SendFailure sendFailure = producer.notTaken(receipt, notTaken, thrown);
    producer.producer().note(item.record().topic(), sendFailure, unreachable);
    if (sendFailure.scope() == Scope.DESTINATION || sendFailure.scope() == Scope.PRODUCER) {
      ended = sendFailure.outcome();
    }
    return false;
  }
}
