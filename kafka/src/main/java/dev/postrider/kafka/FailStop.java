package dev.postrider.kafka;

import dev.postrider.internal.text.LogLine;
import dev.postrider.kafka.SendFailure.Scope;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A producer whose first failed record is its last. It has one request in flight per partition, and
 * the callback that sees the failure closes it on the client's own thread: no record behind the
 * failed one is on its way then, and none will be. When all of its records are accounted for, each
 * is answered: those that failed by themselves with their own outcome, the others as not sent.
 * Thread-safe.
 */
final class FailStop {
  private static final Logger log = LoggerFactory.getLogger(FailStop.class);

  /** So many records may be with one producer, and so many are handed back if one fails. */
  static final int RECORDS_MOST = 5_000;

  private static final Duration SOON = Duration.ofMillis(50);

  /** For records that may or may not have been written, and are not to blame. */
  static final Outcome ABORTED =
      Outcome.notSent("kafka_aborted", "another record of the same producer failed", SOON);

  static final Outcome BEHIND =
      Outcome.notSent("kafka_behind", "a message before it did not arrive", SOON);

  static final Outcome FULL =
      Outcome.notSent("kafka_busy", "too many records are with the producer", SOON);

  private final LiveProducer producer;
  private final Consumer<LiveProducer> stopped;
  private final FailingKeys failingKeys;
  private final long bytesMost;
  private int outstanding;
  private long bytesOutstanding;
  private boolean failed;
  private final List<Failure> failures = new ArrayList<>();

  private record Failure(
      RunReceipt receipt,
      Exception error,
      @Nullable RecordMetadata metadata,
      @Nullable SendFailure sendFailure) {
    /** Whether the error is about this record, and not about what the client did with it. */
    boolean isItsOwn() {
      return error.getClass() != KafkaException.class;
    }
  }

  /**
   * Watches over a producer.
   *
   * @param bytesMost how much may be with it: the client blocks everybody when its buffer is full
   * @param stopped is told, before it is closed
   */
  FailStop(
      LiveProducer producer,
      long bytesMost,
      Consumer<LiveProducer> stopped,
      FailingKeys failingKeys) {
    this.producer = producer;
    this.bytesMost = bytesMost;
    this.stopped = stopped;
    this.failingKeys = failingKeys;
  }

  LiveProducer producer() {
    return producer;
  }

  /** The key's messages go one at a time, through the ordinary producer. */
  void goesSingly(OrderingKey key) {
    failingKeys.add(key);
  }

  /** Before a record is sent: why it may not be, or null. */
  synchronized @Nullable Outcome begin(long bytes) {
    if (failed) {
      return ABORTED;
    }
    // A large record needs half of the room at most: smaller ones would always leave it too little.
    boolean fits = bytesOutstanding + Math.min(bytes, bytesMost / 2) <= bytesMost;
    if (outstanding >= RECORDS_MOST || !fits) {
      return FULL;
    }
    outstanding++;
    bytesOutstanding += bytes;
    return null;
  }

  void acknowledged(RunReceipt receipt, @Nullable RecordMetadata metadata, Outcome delivered) {
    producer.acknowledged(receipt.id(), metadata);
    if (!receipt.isFirst()) {
      return;
    }
    if (failingKeys.any()) {
      failingKeys.delivered(receipt.key);
    }
    answer(receipt, delivered);
  }

  private void answer(RunReceipt receipt, Outcome outcome) {
    try {
      receipt.answer(outcome);
    } finally {
      end(receipt);
    }
  }

  /** The client did not take it, so nothing is lost by it: those before it go on. */
  SendFailure notTaken(RunReceipt receipt, Throwable error, boolean thrown) {
    SendFailure sendFailure =
        thrown ? producer.threw(error) : producer.failed(receipt.id(), error, null);
    if (receipt.isFirst()) {
      if (sendFailure.blames()) {
        failingKeys.add(receipt.key);
      }
      answer(receipt, sendFailure.outcome());
    }
    return sendFailure;
  }

  /** On the client's thread, which sends nothing until this returns. */
  void failed(RunReceipt receipt, Exception error, @Nullable RecordMetadata metadata) {
    boolean first;
    synchronized (this) {
      first = !failed;
      failed = true;
    }
    SendFailure sendFailure = null;
    if (first) {
      sendFailure =
          producer.failed(
              receipt.id(),
              error,
              metadata); // before it is stopped: what it says of the producer counts
      stopped.accept(producer);
      producer.stop(ABORTED);
      log.info("{}", LogLine.of("outbox_kafka_run_stopped").put("reason", sendFailure.outcome()));
    }
    if (receipt.isFirst()) {
      synchronized (this) {
        failures.add(new Failure(receipt, error, metadata, sendFailure));
      }
      end(receipt);
    }
  }

  /** A record is accounted for. After a failure, the last one settles all that failed. */
  private void end(RunReceipt receipt) {
    List<Failure> all;
    synchronized (this) {
      outstanding--;
      bytesOutstanding -= receipt.bytes;
      if (!failed || outstanding > 0 || failures.isEmpty()) {
        return;
      }
      all = new ArrayList<>(failures);
      failures.clear();
    }
    all.sort(Comparator.comparingInt(failure -> failure.receipt().place));
    settle(all);
  }

  /**
   * Of each run, the first record with an error of its own gets that outcome. Those behind it do
   * not, even if they have the same error: they did nothing but wait. Except for what holds
   * whatever stands before it: a record that the broker refuses, or a cluster that is away.
   */
  private void settle(List<Failure> all) {
    boolean nobodysOwn = all.stream().noneMatch(Failure::isItsOwn);
    Set<OrderingKey> blamed = new HashSet<>();
    for (Failure failure : all) {
      RunReceipt receipt = failure.receipt();
      SendFailure sendFailure = failure.sendFailure();
      boolean own = failure.isItsOwn() || (nobodysOwn && sendFailure != null);
      if (sendFailure == null || !own) {
        UUID id = blamed.contains(receipt.key) ? null : receipt.id();
        sendFailure = producer.failed(id, failure.error(), failure.metadata());
      }
      Outcome outcome = sendFailure.outcome();
      if (own && sendFailure.blames()) {
        boolean first = blamed.add(receipt.key);
        failingKeys.add(receipt.key);
        outcome = first || sendFailure.scope() == Scope.MESSAGE ? outcome : BEHIND;
      }
      receipt.answer(outcome);
    }
  }
}
