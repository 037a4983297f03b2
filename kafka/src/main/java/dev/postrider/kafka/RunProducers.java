package dev.postrider.kafka;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.message.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The producers for whole runs of keys. Each serves the keys of one hash, so that a failed record
 * stops only those. Thread-safe.
 */
final class RunProducers {
  private static final int PRODUCERS_MOST = 4;

  private final Records records;
  private final UnreachableTopics unreachable;
  private final FailingKeys failingKeys;
  private final long bytesMost;
  private final int count;
  private final List<ProducerSlot> slots = new ArrayList<>();
  private final List<@Nullable FailStop> producers = new ArrayList<>();

  RunProducers(
      Map<String, String> settings,
      KafkaErrors errors,
      LiveProducer.Shared shared,
      Records records,
      Context context) {
    this.records = records;
    this.unreachable = context.unreachable();
    this.failingKeys = context.failingKeys();
    this.count = ProducerSettings.producersOfRuns(settings, PRODUCERS_MOST);
    this.bytesMost = ProducerSettings.memoryForRuns(settings, count) / 2; // batches are not full
    for (int number = 0; number < count; number++) {
      Map<String, String> own = ProducerSettings.forRuns(settings, number, count);
      slots.add(new ProducerSlot(own, errors, shared));
      producers.add(null);
    }
  }

  /** What it shares with the ordinary producer. */
  record Context(UnreachableTopics unreachable, FailingKeys failingKeys) {}

  /**
   * Begins to send the runs of one batch.
   *
   * @param singly sends and answers a message apart from runs, on any thread
   */
  Batch begin(Answers answers, BlockBudget budget, Consumer<Message> singly) {
    return new Batch(answers, budget, singly);
  }

  /** The runs of one batch. Used by one thread. */
  final class Batch {
    private final Answers answers;
    private final BlockBudget budget;
    private final Consumer<Message> singly;
    private final @Nullable RunBatch[] batches = new RunBatch[count];

    private Batch(Answers answers, BlockBudget budget, Consumer<Message> singly) {
      this.answers = answers;
      this.budget = budget;
      this.singly = singly;
    }

    void send(OrderingKey key, List<Message> run) {
      int number = key.slot(count);
      RunBatch batch = batches[number];
      if (batch == null) {
        FailStop producer = producer(number);
        if (producer == null) {
          RunBatch.answer(answers, run, slots.get(number).absent());
          return;
        }
        batch = new RunBatch(producer, unreachable, answers, budget, singly);
        batches[number] = batch;
      }
      batch.send(key, run, records);
    }
  }

  private synchronized @Nullable FailStop producer(int number) {
    ProducerSlot slot = slots.get(number);
    LiveProducer live = slot.get();
    if (live == null) {
      return null;
    }
    FailStop known = producers.get(number);
    if (known != null && known.producer() == live) {
      return known;
    }
    FailStop made =
        new FailStop(live, bytesMost, old -> slot.stopped(old, FailStop.ABORTED), failingKeys);
    producers.set(number, made);
    return made;
  }

  /** For tests. */
  @Nullable LiveProducer current(OrderingKey key) {
    return slots.get(key.slot(count)).get();
  }

  /** Returns the threads that close its producers. */
  List<Thread> close() {
    List<Thread> closing = new ArrayList<>();
    for (ProducerSlot slot : slots) {
      Thread thread = slot.close();
      if (thread != null) {
        closing.add(thread);
      }
    }
    return closing;
  }
}
