package dev.postrider.kafka;

import dev.postrider.destination.Destination;
import dev.postrider.internal.text.LogLine;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
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
 * Delivers to Apache Kafka with idempotent producers. A message counts as delivered when every
 * replica in sync has it. Several messages of a key go together, through producers that stop at the
 * first failed record; all other messages go through one ordinary producer. Thread-safe.
 */
public final class KafkaDestination implements Destination {
  private static final Logger log = LoggerFactory.getLogger(KafkaDestination.class);
  private static final AtomicInteger NUMBER = new AtomicInteger();

  /** So many unknown topics are asked for at a time. */
  private static final int ASKING_MOST = 64;

  private static final long CLOSE_MS = 5_000;

  private final KafkaConfig config;
  private final Records records;
  private final UnreachableTopics unreachable = new UnreachableTopics();
  private final FailingKeys failingKeys = new FailingKeys(System::nanoTime);
  private final ProducerSlot slot;
  private final RunProducers runProducers;
  private final ExecutorService asking;

  private KafkaDestination(KafkaConfig config) {
    this.config = config;
    this.records = new Records(config.topic(), config.envelope());
    Map<String, String> settings = new TreeMap<>(config.settings());
    settings.putIfAbsent(ProducerConfig.CLIENT_ID_CONFIG, "postrider-" + NUMBER.incrementAndGet());
    KafkaErrors errors = new KafkaErrors(new SecretMask(settings), config.deadAtOnce());
    this.asking = asking();
    LiveProducer.Shared shared =
        new LiveProducer.Shared(
            config.deliveryTimeout().dividedBy(2),
            new Acknowledgements(),
            new Overtaken(),
            new AwayPartitions(config.deliveryTimeout()),
            ProducerSettings.hashesKeys(settings),
            ProducerSettings.topicKept(settings),
            asking);
    this.slot = new ProducerSlot(settings, errors, shared);
    this.runProducers =
        new RunProducers(
            settings, errors, shared, records, new RunProducers.Context(unreachable, failingKeys));
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
      log.warn(
          "{}", LogLine.of("outbox_kafka_not_resolved").put("servers", config.bootstrapServers()));
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
    List<Message> singles = new ArrayList<>();
    Map<OrderingKey, List<Message>> runs = new LinkedHashMap<>();
    for (Message message : batch) {
      OrderingKey key = OrderingKey.of(message);
      if (key == null) {
        singles.add(message);
      } else {
        runs.computeIfAbsent(key, k -> new ArrayList<>(1)).add(message);
      }
    }
    BlockBudget budget = new BlockBudget(config.maxBlock());
    RunProducers.Batch runBatch =
        runProducers.begin(
            answers, budget, message -> deliverSingles(List.of(message), answers, budget));
    runs.forEach(
        (key, run) -> {
          if (run.size() == 1) {
            singles.add(run.get(0)); // nothing can pass it: it need not stop others if it fails
          } else {
            runBatch.send(key, run);
          }
        });
    deliverSingles(singles, answers, budget);
  }

  private void deliverSingles(List<Message> singles, Answers answers, BlockBudget budget) {
    if (singles.isEmpty()) {
      return;
    }
    LiveProducer producer = slot.get();
    if (producer == null) {
      singles.forEach(message -> answers.answer(message.id(), slot.absent()));
      return;
    }
    Map<UUID, OrderingKey> keys = new HashMap<>();
    for (Message message : singles) {
      OrderingKey key = OrderingKey.of(message);
      if (key != null) {
        keys.put(message.id(), key);
      }
    }
    Answers noting =
        keys.isEmpty() ? answers : (id, outcome) -> note(keys.get(id), id, outcome, answers);
    SendBatch sendBatch = new SendBatch(producer, unreachable, noting, config.maxBlock(), budget);
    singles.forEach(message -> sendBatch.send(message, records));
  }

  private void note(@Nullable OrderingKey key, UUID id, Outcome outcome, Answers answers) {
    if (key != null && SendFailure.blames(outcome)) {
      failingKeys.add(key);
    } else if (key != null && outcome instanceof Outcome.Delivered && failingKeys.any()) {
      failingKeys.delivered(key);
    }
    answers.answer(id, outcome);
  }

  /** A run of a key goes through a producer that stops when a record fails. */
  @Override
  public boolean keepsOrder() {
    return true;
  }

  /**
   * To the same topic only, because another partition would take the next one although this one
   * fails. And not while the key fails: each failure hands back what others have in flight.
   */
  @Override
  public boolean mayFollow(Message before, Message next) {
    if (failingKeys.any()) {
      OrderingKey key = OrderingKey.of(next);
      if (key == null || failingKeys.has(key)) {
        return false;
      }
    }
    return config.topic().isFixed()
        || config.topic().fill(before).equals(config.topic().fill(next));
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

  /** For tests that break the producer of a key's runs. */
  @Nullable LiveProducer producerOfRuns(OrderingKey key) {
    return runProducers.current(key);
  }

  /** Ends at once; what is still in flight is answered as unavailable. */
  @Override
  public void close() {
    asking.shutdownNow();
    List<Thread> closing = new ArrayList<>(runProducers.close());
    Thread last = slot.close();
    if (last != null) {
      closing.add(last);
    }
    join(closing);
  }

  private static void join(List<Thread> closing) {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MS);
    try {
      for (Thread thread : closing) {
        long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
        thread.join(Math.max(leftMs, 1));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String toString() {
    return "KafkaDestination[" + config + "]";
  }
}
