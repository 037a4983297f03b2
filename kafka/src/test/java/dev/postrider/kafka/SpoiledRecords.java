package dev.postrider.kafka;

import java.util.Map;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/**
 * Takes the key away from records with the header {@code spoiled}, and leaves them on the key's
 * partition: a compacted topic finds them invalid.
 */
public final class SpoiledRecords implements ProducerInterceptor<byte[], byte[]> {
  static final String HEADER = "spoiled";

  @Override
  public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
    if (record.headers().lastHeader(HEADER) == null) {
      return record;
    }
    int partition = BuiltInPartitioner.partitionForKey(record.key(), 4);
    return new ProducerRecord<>(
        record.topic(), partition, null, null, record.value(), record.headers());
  }

  @Override
  public void onAcknowledgement(RecordMetadata metadata, Exception exception) {}

  @Override
  public void close() {}

  @Override
  public void configure(Map<String, ?> configs) {}
}
