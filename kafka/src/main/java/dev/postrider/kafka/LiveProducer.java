package dev.postrider.kafka;

import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.kafka.Acknowledgements.Reach;
import dev.postrider.kafka.SendFailure.Scope;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One producer from its making to its end, and what its answers say about it. When it turns out to
 * be broken it says so once; what it still has then comes back as unavailable. Thread-safe.
 */
final class LiveProducer {
  private static final Logger log = LoggerFactory.getLogger(LiveProducer.class);

  /** Errors nobody knows, and nothing else for this long, end a producer. */
  private static final long SUSPECT_NANOS = Duration.ofSeconds(5).toNanos();

  private final Producer<byte[], byte[]> producer;
  private final KafkaErrors errors;
  private final long recentNanos;
  private final BiConsumer<LiveProducer, Outcome> broken;
  private final LongSupplier nanoClock;
  private final Topics topics;
  private final AtomicBoolean reported = new AtomicBoolean();
  private volatile @Nullable Outcome retired;
  private final Acknowledgements acknowledgements;
  private final Overtaken overtaken;
  private final AwayPartitions away;
  private final boolean hashesKeys;
  private volatile boolean acked;
  private volatile long suspectSinceNanos;
  private volatile boolean suspect;

  /**
   * Watches a producer.
   *
   * @param broken is told once, with the reason
   */
  LiveProducer(
      Producer<byte[], byte[]> producer,
      KafkaErrors errors,
      Shared shared,
      BiConsumer<LiveProducer, Outcome> broken,
      LongSupplier nanoClock) {
    this.producer = producer;
    this.errors = errors;
    this.recentNanos = shared.recent().toNanos();
    this.acknowledgements = shared.acknowledgements();
    this.overtaken = shared.overtaken();
    this.away = shared.away();
    this.hashesKeys = shared.hashesKeys();
    this.broken = broken;
    this.nanoClock = nanoClock;
    this.topics = new Topics(this::ask, shared.asking(), shared.topicKept(), nanoClock);
  }

  /**
   * What all producers of a destination share.
   *
   * @param recent how far back an acknowledgement still shows that the cluster is reachable
   * @param acknowledgements acknowledgements of all producers of the destination
   * @param overtaken messages of all producers that waited in vain
   * @param away partitions that no producer reaches
   * @param hashesKeys whether the client chooses a record's partition by its key as it is
   * @param topicKept how long the client keeps the metadata of a topic that is not used
   * @param asking where to wait for metadata
   */
  record Shared(
      Duration recent,
      Acknowledgements acknowledgements,
      Overtaken overtaken,
      AwayPartitions away,
      boolean hashesKeys,
      Duration topicKept,
      Executor asking) {}

  /** The topics that it knows. */
  Topics topics() {
    return topics;
  }

  /** Waits for a topic's metadata; returns what is wrong with it, or null. */
  private @Nullable SendFailure ask(String topic) {
    try {
      var unused = producer.partitionsFor(topic);
      return null;
    } catch (ApiException e) {
      return failed(null, e, null);
    } catch (RuntimeException | Error e) {
      return threw(e);
    }
  }

  /**
   * The answer for a message that is not sent because its partition is away; null if it is to be
   * sent. For topics that it knows.
   */
  @Nullable Outcome away(ProducerRecord<byte[], byte[]> record) {
    TopicPartition partition = whileSomeAreAway(record);
    return partition == null ? null : away.answerFor(partition, nanoClock.getAsLong());
  }

  /** Whether its partition is away, also if it is time to try it again. */
  boolean isAway(ProducerRecord<byte[], byte[]> record) {
    TopicPartition partition = whileSomeAreAway(record);
    return partition != null && away.has(partition);
  }

  /** The record's partition; null if none is away, or nobody knows it before it is sent. */
  private @Nullable TopicPartition whileSomeAreAway(ProducerRecord<byte[], byte[]> record) {
    if (!away.any() || !hashesKeys || record.key() == null) {
      return null; // the client chooses a partition that is there if there is no key
    }
    try {
      int count = producer.partitionsFor(record.topic()).size();
      int partition = Utils.toPositive(Utils.murmur2(record.key())) % count;
      return new TopicPartition(record.topic(), partition);
    } catch (RuntimeException | Error e) {
      return null; // sending it will tell
    }
  }

  /** As Kafka's send: may throw, and call the callback as well. */
  void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
    var unused = producer.send(record, callback);
  }

  void acknowledged(UUID id, @Nullable RecordMetadata metadata) {
    overtaken.delivered(id);
    away.took(metadata);
    acknowledgements.at(metadata, nanoClock.getAsLong());
    acked = true;
    suspect = false;
  }

  boolean hasDelivered() {
    return acked;
  }

  /**
   * The sendFailure on an error that the callback got, with these metadata if it got any.
   *
   * @param id of the message; null if it only stood behind one that failed
   */
  SendFailure failed(@Nullable UUID id, Throwable error, @Nullable RecordMetadata metadata) {
    long now = nanoClock.getAsLong();
    Reach reach = acknowledgements.within(recentNanos, metadata, now);
    if (id != null && reach != Reach.NONE && errors.isStall(error)) {
      if (reach == Reach.OTHER_PARTITIONS && metadata != null) {
        away.gaveUp(metadata, now);
      }
      if (overtaken.timedOut(id, now, since -> acknowledgements.since(since, metadata))) {
        reach = Reach.OVERTAKEN;
      }
    }
    SendFailure sendFailure = errors.of(error, reach);
    Outcome end = retired;
    if (sendFailure.scope() == Scope.UNKNOWN && end != null) {
      return new SendFailure(end, Scope.PRODUCER);
    }
    return judged(sendFailure, now);
  }

  /** The sendFailure on an error that send threw. */
  SendFailure threw(Throwable error) {
    Outcome end = retired;
    return judged(
        end == null ? errors.ofThrown(error) : new SendFailure(end, Scope.PRODUCER),
        nanoClock.getAsLong());
  }

  private SendFailure judged(SendFailure sendFailure, long now) {
    if (sendFailure.scope() == Scope.PRODUCER
        || (sendFailure.scope() == Scope.UNKNOWN && hopeless(now))) {
      report(sendFailure.outcome());
    }
    return sendFailure;
  }

  /** What failed at once may have blocked: its topic is asked for before the next is sent. */
  void note(String topic, SendFailure failure, UnreachableTopics unreachable) {
    if (failure.scope() != Scope.MESSAGE) {
      topics.forget(topic);
    }
    if (failure.scope() == Scope.TOPIC) {
      unreachable.add(topic, failure.outcome());
    }
  }

  private boolean hopeless(long now) {
    if (!suspect) {
      suspectSinceNanos = now;
      suspect = true;
    }
    return now - suspectSinceNanos >= SUSPECT_NANOS;
  }

  private void report(Outcome outcome) {
    if (reported.compareAndSet(false, true)) {
      broken.accept(this, outcome);
    }
  }

  /**
   * Ends it from a callback, on the client's own thread: nothing more is sent, and all it has is
   * handed back with this outcome. What is in flight may be written all the same.
   */
  void stop(Outcome outcome) {
    if (retired == null) {
      retired = outcome;
    }
    closeNow();
  }

  /** Throws nothing: it also closes code of users, as a partitioner, and that may throw. */
  private void closeNow() {
    try {
      producer.close(Duration.ZERO);
    } catch (RuntimeException | Error e) {
      log.warn("{}", LogLine.of("outbox_kafka_close_threw"), Silenced.of(e));
    }
  }

  /**
   * Ends it without waiting for what it has in flight, which is answered with this outcome. A
   * record may be on its way to the broker all the same: a duplicate then, and never a loss.
   *
   * @return the thread that does it, since the client sets no limit to the time it takes
   */
  Thread retire(Outcome outcome) {
    retired = outcome;
    Thread thread = new Thread(this::closeNow, "postrider-kafka-close");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
