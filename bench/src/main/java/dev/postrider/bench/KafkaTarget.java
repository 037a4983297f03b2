package dev.postrider.bench;

import dev.postrider.destination.Destination;
import dev.postrider.kafka.KafkaConfig;
import dev.postrider.kafka.KafkaDestination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A broker to write to, each time to a topic of its own with four partitions. Both ways use the
 * same batch size and no compression. Not thread-safe.
 */
final class KafkaTarget {
  private static final long LIMIT_MINUTES = 20;
  private static final int PARTITIONS = 4;

  private final String address;
  private int round;

  KafkaTarget(String address) {
    this.address = address;
  }

  /** Sends the bodies and nothing else, as fast as the client takes them. */
  double bare(List<byte[]> bodies) throws Exception {
    return publish("bare", bodies.size(), send -> bodies.forEach(send));
  }

  /** Sends what a raw delete loop takes out of its table. */
  double raw(BenchDatabase database, int messages, int workers) throws Exception {
    return publish(
        "raw",
        messages,
        send ->
            RawDelete.rate(
                database,
                messages,
                workers,
                text -> send.accept(text.getBytes(StandardCharsets.UTF_8))));
  }

  /** Feeds bodies to a producer. */
  private interface Source {
    void feed(Consumer<byte[]> send) throws Exception;
  }

  private double publish(String name, int messages, Source source) throws Exception {
    String topic = name + "-" + round++;
    create(topic);
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers",
            address,
            "acks",
            "all",
            "enable.idempotence",
            "true",
            "batch.size",
            64 << 10,
            "buffer.memory",
            64 << 20);
    CountDownLatch left = new CountDownLatch(messages);
    AtomicReference<Exception> failure = new AtomicReference<>();
    Callback sent =
        (metadata, error) -> {
          failure.compareAndSet(null, error);
          left.countDown();
        };
    double seconds;
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      producer.partitionsFor(topic);
      long start = System.nanoTime();
      source.feed(
          body -> {
            var unused = producer.send(new ProducerRecord<>(topic, body), sent);
          });
      await(left);
      if (failure.get() != null) {
        throw new IllegalStateException("the bare producer failed", failure.get());
      }
      seconds = (System.nanoTime() - start) / 1e9;
    }
    delete(topic);
    return messages / seconds;
  }

  /** Carries the backlog of the topic {@code orders}. */
  double relay(BenchDatabase database, int messages, int workers) throws Exception {
    String topic = "relay-" + round++;
    create(topic);
    CountDownLatch left = new CountDownLatch(messages);
    Destination kafka = KafkaDestination.open(KafkaConfig.builder(address).topic(topic).build());
    Relay relay =
        Relay.builder(database.dataSource())
            .config(RelayConfig.defaults().withCarriers(workers))
            .destination("kafka", new Counting(kafka, left))
            .route("bench", "orders", "kafka")
            .build();
    database.meter().start();
    long start = System.nanoTime();
    relay.start();
    await(left);
    relay.close(); // settles the last ones: part of the work
    double seconds = (System.nanoTime() - start) / 1e9;
    database.meter().stop(messages);
    delete(topic);
    return messages / seconds;
  }

  private static void await(CountDownLatch left) throws InterruptedException {
    if (!left.await(LIMIT_MINUTES, TimeUnit.MINUTES)) {
      throw new IllegalStateException(left.getCount() + " messages did not arrive");
    }
  }

  private void create(String topic) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
      NewTopic created = new NewTopic(topic, PARTITIONS, (short) 1);
      admin.createTopics(List.of(created)).all().get(1, TimeUnit.MINUTES);
    }
    warmUp(topic);
  }

  /**
   * One record per partition. A partition that is not ready for a producer's first batch and is for
   * its second takes the second, and the first is out of sequence until it expires.
   */
  private void warmUp(String topic) throws Exception {
    Map<String, Object> settings =
        Map.of("bootstrap.servers", address, "max.in.flight.requests.per.connection", 1);
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      for (int partition = 0; partition < PARTITIONS; partition++) {
        producer
            .send(new ProducerRecord<>(topic, partition, null, new byte[1]))
            .get(1, TimeUnit.MINUTES);
      }
    }
  }

  private void delete(String topic) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
      admin.deleteTopics(List.of(topic)).all().get(1, TimeUnit.MINUTES);
    }
  }

  /** Counts what the broker has acknowledged. */
  private record Counting(Destination kafka, CountDownLatch left) implements Destination {
    @Override
    public void deliver(List<Message> batch, Answers answers) {
      kafka.deliver(
          batch,
          (id, outcome) -> {
            answers.answer(id, outcome);
            if (outcome instanceof Outcome.Delivered) {
              left.countDown();
            }
          });
    }

    @Override
    public boolean keepsOrder() {
      return kafka.keepsOrder();
    }

    @Override
    public boolean mayFollow(Message before, Message next) {
      return kafka.mayFollow(before, next);
    }

    @Override
    public void close() {
      kafka.close();
    }
  }
}
