package dev.postrider.kafka;

import dev.postrider.dispatch.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.PostriderException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers to Apache Kafka with an idempotent producer. A message counts as delivered when every
 * replica in sync has it. Messages of one key are not pipelined, see {@link #keepsOrder}; many keys
 * go at a time. Thread-safe.
 */
public final class KafkaDestination implements Destination {
  private static final Logger log = LoggerFactory.getLogger(KafkaDestination.class);
  private static final AtomicInteger NUMBER = new AtomicInteger();

  /** So many unknown topics are asked for at a time. */
  private static final int ASKING_MOST = 64;

  private final KafkaConfig config;
  private final Records records;
  private final Shunned shunned = new Shunned();
  private final ProducerSlot slot;
  private final ExecutorService asking;

  private KafkaDestination(KafkaConfig config) {
    this.config = config;
    this.records = new Records(config.topic(), config.envelope());
    Map<String, String> settings = new TreeMap<>(config.settings());
    settings.putIfAbsent(ProducerConfig.CLIENT_ID_CONFIG, "postrider-" + NUMBER.incrementAndGet());
    KafkaErrors errors = new KafkaErrors(new Secrets(settings), config.deadAtOnce());
    this.asking = asking();
    LiveProducer.Patience patience =
        new LiveProducer.Patience(
            config.deliveryTimeout().dividedBy(2), ProducerSettings.topicKept(settings), asking);
    this.slot = new ProducerSlot(settings, errors, patience);
  }

  /** Threads for topics that the client does not know yet; none while it knows all. */
  private static ExecutorService asking() {
    return new ThreadPoolExecutor(
        0,
        ASKING_MOST,
        10,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        task -> {
          Thread thread = new Thread(task, "postrider-kafka-topic");
          thread.setDaemon(true);
          return thread;
        });
  }

  /**
   * Makes the client, which connects by itself: the cluster need not be there yet, nor its names
   * resolve. Fails if the client cannot be made with these settings at all.
   */
  public static KafkaDestination open(KafkaConfig config) {
    KafkaDestination destination = new KafkaDestination(config);
    try {
      destination.slot.open();
    } catch (PostriderException e) {
      if (resolves(config.bootstrapServers())) {
        throw e;
      }
      log.warn("event=kafka_not_resolved servers={}", config.bootstrapServers());
    }
    return destination;
  }

  private static boolean resolves(String servers) {
    for (String server : servers.split(",", -1)) {
      String address = server.strip();
      try {
        if (InetAddress.getAllByName(address.substring(0, address.lastIndexOf(':'))).length > 0) {
          return true;
        }
      } catch (UnknownHostException e) {
        log.debug("{} does not resolve", address);
      }
    }
    return false;
  }

  @Override
  public void deliver(List<Message> batch, Answers answers) {
    LiveProducer producer = slot.get();
    if (producer == null) {
      batch.forEach(message -> answers.answer(message.id(), slot.absent()));
      return;
    }
    Shipment shipment = new Shipment(producer, shunned, answers, config.maxBlock());
    batch.forEach(message -> shipment.send(message, records));
  }

  /**
   * Never: when a record of a key has finally failed, those behind it may still be written, since
   * the client then skips the gap. So the next of a key is sent when the one before it is there.
   */
  @Override
  public boolean keepsOrder() {
    return false;
  }

  /** The record's topic. */
  @Override
  public @Nullable String target(Message message) {
    return config.topic().isFixed() ? null : config.topic().fill(message);
  }

  @Override
  public Duration answersWithin() {
    return config.maxBlock().plus(config.deliveryTimeout());
  }

  /** For tests that break the producer. */
  ProducerSlot slot() {
    return slot;
  }

  /** Ends at once; what is still in flight is answered as unavailable. */
  @Override
  public void close() {
    asking.shutdownNow();
    slot.close();
  }

  @Override
  public String toString() {
    return "KafkaDestination[" + config + "]";
  }
}
