package dev.postrider.kafka;

import dev.postrider.internal.text.LogLine;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the producer, and makes another when it is broken: not before a pause, which doubles until
 * something is delivered. Thread-safe.
 */
final class ProducerSlot {
  private static final Logger log = LoggerFactory.getLogger(ProducerSlot.class);
  private static final long PAUSE_MIN_MS = 200;
  private static final long PAUSE_MAX_MS = 30_000;

  /** A producer that a failed record stopped is replaced at once, if it is at least this old. */
  private static final long STOPPED_MS = 100;

  private final Map<String, Object> settings;
  private final KafkaErrors errors;
  private final LiveProducer.Shared shared;

  private @Nullable LiveProducer current;
  private Outcome absent = Outcome.unavailable("kafka_producer_failed", "no producer yet");
  private long pauseMs = PAUSE_MIN_MS;
  private long notBeforeNanos = System.nanoTime();
  private long madeAtNanos;
  private boolean closed;

  /** An empty slot. */
  ProducerSlot(Map<String, String> settings, KafkaErrors errors, LiveProducer.Shared shared) {
    this.settings = Map.copyOf(GuardedPartitioner.guard(settings));
    this.errors = errors;
    this.shared = shared;
  }

  /** The producer, a new one if need and time be; null if there is none now. */
  synchronized @Nullable LiveProducer get() {
    if (current == null && !closed && System.nanoTime() - notBeforeNanos >= 0) {
      try {
        current = make();
      } catch (KafkaException e) {
        pause(Outcome.unavailable("kafka_producer_failed", errors.text(e)));
      }
    }
    return current;
  }

  /** The answer for messages while there is no producer. */
  synchronized Outcome absent() {
    return absent;
  }

  /** Makes the first producer, or says why that is impossible. */
  synchronized void open() {
    try {
      current = make();
    } catch (KafkaException e) {
      throw new PostriderException("kafka: " + errors.text(e));
    }
  }

  private LiveProducer make() {
    madeAtNanos = System.nanoTime();
    KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings);
    return new LiveProducer(producer, errors, shared, this::broken, System::nanoTime);
  }

  private synchronized void broken(LiveProducer producer, Outcome why) {
    if (producer == current) {
      gone(producer);
      pause(why);
      producer.retire(why);
    }
  }

  private void gone(LiveProducer producer) {
    current = null;
    if (producer.hasDelivered()) {
      pauseMs = PAUSE_MIN_MS;
    }
  }

  private void pause(Outcome why) {
    absent = why;
    notBeforeNanos = System.nanoTime() + Duration.ofMillis(pauseMs).toNanos();
    log.warn(
        "{}",
        LogLine.of("outbox_kafka_producer_replaced").put("pause_ms", pauseMs).put("reason", why));
    pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
  }

  /**
   * A failed record has stopped it. There is nothing wrong with the producer, so the next one need
   * not wait longer than it takes to bound how many are made.
   *
   * @param meanwhile the answer for messages until then
   */
  synchronized void stopped(LiveProducer producer, Outcome meanwhile) {
    if (producer == current) {
      gone(producer);
      absent = meanwhile;
      notBeforeNanos = madeAtNanos + Duration.ofMillis(STOPPED_MS).toNanos();
    }
  }

  /** Ends at once; returns the thread that closes the producer, if there is one. */
  @Nullable Thread close() {
    LiveProducer last;
    synchronized (this) {
      last = current;
      current = null;
      closed = true;
      absent = Outcome.unavailable("closed", "the destination is closed");
    }
    return last == null ? null : last.retire(absent());
  }
}
