package dev.postrider.verify.chaos;

import dev.postrider.verify.chaos.InboxSink.Received;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads all partitions, from the last committed position on. The bad topic does not exist before
 * the end of the run.
 */
final class KafkaReader implements Runnable {
  static final int PARTITIONS = 4;

  private final Scene scene;
  private final InboxSink sink;

  KafkaReader(Scene scene, InboxSink sink) {
    this.scene = scene;
    this.sink = sink;
  }

  @Override
  public void run() {
    while (true) {
      try (KafkaConsumer<byte[], byte[]> consumer =
          new KafkaConsumer<>(
              Map.of(
                  "bootstrap.servers", scene.kafka(),
                  "group.id", "chaos",
                  "enable.auto.commit", "false",
                  "auto.offset.reset", "earliest",
                  "reconnect.backoff.max.ms", "200",
                  "default.api.timeout.ms", "10000",
                  "request.timeout.ms", "5000"),
              new ByteArrayDeserializer(),
              new ByteArrayDeserializer())) {
        read(consumer);
      } catch (KafkaException e) {
        LockSupport.parkNanos(200_000_000); // the broker is away
      }
    }
  }

  private void read(KafkaConsumer<byte[], byte[]> consumer) {
    boolean mended = scene.mended();
    consumer.assign(partitions(mended));
    while (mended == scene.mended()) {
      List<Received> batch = new ArrayList<>();
      consumer.poll(Duration.ofMillis(200)).forEach(record -> batch.add(received(record)));
      if (!batch.isEmpty()) {
        sink.take(batch);
        consumer.commitSync();
      }
    }
  }

  private static List<TopicPartition> partitions(boolean mended) {
    List<TopicPartition> partitions = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      partitions.add(new TopicPartition(Scene.KAFKA_TOPIC + Scene.GOOD, i));
      if (mended) {
        partitions.add(new TopicPartition(Scene.KAFKA_TOPIC + Scene.BAD, i));
      }
    }
    return partitions;
  }

  private static Received received(ConsumerRecord<byte[], byte[]> record) {
    Map<String, String> headers = new HashMap<>();
    for (Header header : record.headers()) {
      headers.put(header.key(), new String(header.value(), StandardCharsets.UTF_8));
    }
    return new Received(new String(record.value(), StandardCharsets.UTF_8), headers);
  }
}
