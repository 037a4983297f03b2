package dev.postrider.kafka;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.message.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The producers for whole runs of keys. Each serves the keys of one hash, so that a failed record
 * stops only those. Thread-safe.
 */
final class KeyLanes {
  private static final int LANES_MOST = 4;

  private final Records records;
  private final UnreachableTopics unreachable;
  private final Stumbled stumbled;
  private final long bytesMost;
  private final int lanes;
  private final List<ProducerSlot> slots = new ArrayList<>();
  private final List<@Nullable FailStop> producers = new ArrayList<>();

  KeyLanes(
      Map<String, String> settings,
      KafkaErrors errors,
      LiveProducer.Patience patience,
      Records records,
      Context context) {
    this.records = records;
    this.unreachable = context.unreachable();
    this.stumbled = context.stumbled();
    this.lanes = ProducerSettings.producersOfRuns(settings, LANES_MOST);
    this.bytesMost = ProducerSettings.memoryForRuns(settings, lanes) / 2; // batches are not full
    for (int lane = 0; lane < lanes; lane++) {
      Map<String, String> own = ProducerSettings.forRuns(settings, lane, lanes);
      slots.add(new ProducerSlot(own, errors, patience));
      producers.add(null);
    }
  }

  /** What it shares with the ordinary producer. */
  record Context(UnreachableTopics unreachable, Stumbled stumbled) {}

  /** Begins to send the runs of one batch. */
  Trip trip(Answers answers, BlockBudget budget) {
    return new Trip(answers, budget);
  }

  /** The runs of one batch. Used by one thread. */
  final class Trip {
    private final Answers answers;
    private final BlockBudget budget;
    private final @Nullable RunBatch[] shipments = new RunBatch[lanes];

    private Trip(Answers answers, BlockBudget budget) {
      this.answers = answers;
      this.budget = budget;
    }

    void send(OrderingKey key, List<Message> run) {
      int lane = key.slot(lanes);
      RunBatch shipment = shipments[lane];
      if (shipment == null) {
        FailStop producer = producer(lane);
        if (producer == null) {
          RunBatch.answer(answers, run, slots.get(lane).absent());
          return;
        }
        shipment = new RunBatch(producer, unreachable, answers, budget);
        shipments[lane] = shipment;
      }
      shipment.send(key, run, records);
    }
  }

  private synchronized @Nullable FailStop producer(int lane) {
    ProducerSlot slot = slots.get(lane);
    LiveProducer live = slot.get();
    if (live == null) {
      return null;
    }
    FailStop known = producers.get(lane);
    if (known != null && known.producer() == live) {
      return known;
    }
    FailStop made =
        new FailStop(live, bytesMost, old -> slot.stopped(old, FailStop.ABORTED), stumbled);
    producers.set(lane, made);
    return made;
  }

  /** For tests. */
  @Nullable LiveProducer current(OrderingKey key) {
    return slots.get(key.slot(lanes)).get();
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
