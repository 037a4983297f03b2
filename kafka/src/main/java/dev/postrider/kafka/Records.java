package dev.postrider.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.envelope.Envelope;
import dev.postrider.envelope.Sealed;
import dev.postrider.internal.envelope.EventHeaders;
import dev.postrider.internal.envelope.Template;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * Turns messages into records. The ordering key is the record's key, so that a key stays on one
 * partition. Thread-safe.
 */
final class Records {
  /** As the CloudEvents binding for Kafka has it. */
  private static final String ATTRIBUTE = "ce_";

  private static final String CONTENT_TYPE = "content-type";

  private final Template topic;
  private final Envelope envelope;

  Records(Template topic, Envelope envelope) {
    this.topic = topic;
    this.envelope = envelope;
  }

  /** A record, or why there is none. */
  record Made(@Nullable ProducerRecord<byte[], byte[]> record, @Nullable Outcome refused) {}

  Made make(Message message) {
    try {
      return new Made(of(message), null);
    } catch (PostriderException e) {
      String error = String.valueOf(e.getMessage());
      return new Made(null, Outcome.terminal("kafka_not_addressed", error));
    } catch (RuntimeException | Error e) {
      // A user's envelope: its message fails, the others of the batch do not.
      return new Made(null, Outcome.retryable("kafka_envelope_threw", ErrorReport.of(e)));
    }
  }

  ProducerRecord<byte[], byte[]> of(Message message) {
    Sealed sealed = envelope.seal(message);
    Map<String, String> headers = EventHeaders.of(message);
    headers.put(CONTENT_TYPE, sealed.contentType());
    sealed.attributes().forEach((name, value) -> headers.put(ATTRIBUTE + name, value));
    RecordHeaders bytes = new RecordHeaders();
    headers.forEach((name, value) -> bytes.add(name, value.getBytes(UTF_8)));
    String key = message.key();
    // No time of our own: retention would drop what is sent late as soon as it arrives.
    return new ProducerRecord<>(
        topic.fill(message),
        null,
        null,
        key == null ? null : key.getBytes(UTF_8),
        sealed.body(),
        bytes);
  }
}
