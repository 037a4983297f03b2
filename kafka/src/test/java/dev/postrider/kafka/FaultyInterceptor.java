package dev.postrider.kafka;

import java.util.Map;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Fails with an error, which the client lets through, on records with its header. */
public final class FaultyInterceptor implements ProducerInterceptor<byte[], byte[]> {
  static final String HEADER = "faulty";

  @Override
  public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
    if (record.headers().lastHeader(HEADER) != null) {
      throw new NoClassDefFoundError("spoiled");
    }
    return record;
  }

  @Override
  public void onAcknowledgement(RecordMetadata metadata, Exception exception) {}

  @Override
  public void close() {}

  @Override
  public void configure(Map<String, ?> configs) {}
}
