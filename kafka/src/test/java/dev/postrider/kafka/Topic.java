package dev.postrider.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.testkit.Arrival;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A topic and everything that has been written to it. Used by one thread. */
final class Topic implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  final String name;
  private final List<ConsumerRecord<byte[], byte[]>> seen = new ArrayList<>();
  private final List<Arrival> arrivals = new ArrayList<>();
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final List<TopicPartition> partitions = new ArrayList<>();

  private Topic(String address, String name, int count) {
    this.name = name;
    this.consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                address,
                "auto.offset.reset",
                "earliest",
                "enable.auto.commit",
                "false",
                "max.partition.fetch.bytes",
                4 << 20,
                "request.timeout.ms", // of a cluster another broker may answer
                5_000),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    for (int partition = 0; partition < count; partition++) {
      partitions.add(new TopicPartition(name, partition));
    }
    consumer.assign(partitions);
    // Returns when every partition's leader answers: see the page's limits about new topics.
    consumer.endOffsets(partitions, PATIENCE);
  }

  static Topic create() {
    return create(Map.of());
  }

  static Topic create(Map<String, String> settings) {
    return create("t-" + UUID.randomUUID(), settings);
  }

  static Topic create(String name, Map<String, String> settings) {
    Broker.createTopic(name, settings);
    return at(Broker.SERVER.address(), name);
  }

  /** One that exists, with four partitions. */
  static Topic at(String address, String name) {
    return at(address, name, 4);
  }

  /** One that exists, with so many partitions. */
  static Topic at(String address, String name, int partitions) {
    return new Topic(address, name, partitions);
  }

  /** Everything that is there, a partition's records in their order. */
  List<ConsumerRecord<byte[], byte[]>> records() {
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, PATIENCE);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (ends.entrySet().stream().anyMatch(e -> consumer.position(e.getKey()) < e.getValue())) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("could not read " + name + " to its end");
      }
      consumer.poll(Duration.ofMillis(100)).forEach(seen::add);
    }
    return seen;
  }

  List<Arrival> arrivals() {
    List<ConsumerRecord<byte[], byte[]>> records = records();
    for (ConsumerRecord<byte[], byte[]> record : records.subList(arrivals.size(), records.size())) {
      arrivals.add(arrival(record));
    }
    return arrivals;
  }

  private static Arrival arrival(ConsumerRecord<byte[], byte[]> record) {
    Map<String, String> headers = headers(record);
    return new Arrival(UUID.fromString(headers.get("x-event-id")), record.value(), headers);
  }

  static Map<String, String> headers(ConsumerRecord<byte[], byte[]> record) {
    Map<String, String> headers = new LinkedHashMap<>();
    for (Header header : record.headers()) {
      headers.put(header.key(), new String(header.value(), UTF_8));
    }
    return headers;
  }

  @Override
  public void close() {
    consumer.close();
  }
}
