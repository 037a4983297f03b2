package dev.postrider.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.envelope.Envelope;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What consumers find, read back from the broker. */
@Tag("OP-6")
class RecordMappingTest {
  @AutoClose private final Topic topic = Topic.create();

  private ConsumerRecord<byte[], byte[]> sent(Envelope envelope, Message message) throws Exception {
    KafkaConfig config = Broker.config().topic(topic.name).envelope(envelope).build();
    try (KafkaDestination destination = KafkaDestination.open(config)) {
      assertThat(Sample.deliver(destination, message)).isInstanceOf(Outcome.Delivered.class);
    }
    List<ConsumerRecord<byte[], byte[]>> records = topic.records();
    return records.get(records.size() - 1);
  }

  @Test
  @Tag("HE-1")
  @Tag("HE-4")
  void keyHeadersAndPayload() throws Exception {
    Message message =
        Sample.message("käse", "{\"n\":1}", Map.of("trace", "abc", "x-attempts", "0"));
    ConsumerRecord<byte[], byte[]> record = sent(Envelope.payload(), message);
    assertThat(record.key()).isEqualTo("käse".getBytes(UTF_8));
    assertThat(record.value()).isEqualTo(message.payload());
    assertThat(Topic.headers(record))
        .containsExactlyInAnyOrderEntriesOf(
            Map.ofEntries(
                Map.entry("trace", "abc"),
                Map.entry("content-type", "application/json"),
                Map.entry("x-event-id", message.id().toString()),
                Map.entry("x-aggregate-type", "order"),
                Map.entry("x-aggregate-id", "4711"),
                Map.entry("x-event-type", "created"),
                Map.entry("x-group-id", "acme"),
                Map.entry("x-subsidiary-id", "west"),
                Map.entry("x-key", "käse"),
                Map.entry("x-sequence", "7"),
                Map.entry("x-attempts", "3"),
                Map.entry("x-fencing-token", "99"),
                Map.entry("x-redelivery", "true")));
  }

  @Test
  void withoutAKeyTheRecordHasNone() throws Exception {
    assertThat(sent(Envelope.payload(), Sample.message(null, "{}", Map.of())).key()).isNull();
  }

  @Test
  void aKeyStaysOnItsPartition() throws Exception {
    for (int i = 0; i < 10; i++) {
      sent(Envelope.payload(), Sample.message("k", "{}", Map.of()));
    }
    assertThat(topic.records()).hasSize(10);
    assertThat(topic.records()).extracting(ConsumerRecord::partition).containsOnly(onlyPartition());
  }

  private int onlyPartition() {
    return topic.records().get(0).partition();
  }

  @Test
  @Tag("HE-5")
  void theStandardEnvelope() throws Exception {
    Message message = Sample.message("k", "{\"n\":1}", Map.of());
    ConsumerRecord<byte[], byte[]> record = sent(Envelope.standard(), message);
    assertThat(new String(record.value(), UTF_8))
        .isEqualTo(
            "{\"event_id\":\""
                + message.id()
                + "\",\"occurred_at\":\"2026-01-02T03:04:05.678Z\",\"aggregate_type\":\"order\","
                + "\"aggregate_id\":\"4711\",\"event_type\":\"created\",\"group_id\":\"acme\","
                + "\"subsidiary_id\":\"west\",\"payload\":{\"n\":1}}");
    assertThat(Topic.headers(record)).containsEntry("content-type", "application/json");
  }

  @Test
  void cloudEventsInBinaryMode() throws Exception {
    Message message = Sample.message("k", "{\"n\":1}", Map.of("ce_id", "forged"));
    ConsumerRecord<byte[], byte[]> record = sent(Envelope.cloudEventsBinary("/shop"), message);
    assertThat(record.value()).isEqualTo(message.payload());
    assertThat(record.key()).isEqualTo("k".getBytes(UTF_8));
    assertThat(Topic.headers(record))
        .containsEntry("content-type", "application/json")
        .containsEntry("ce_specversion", "1.0")
        .containsEntry("ce_id", message.id().toString())
        .containsEntry("ce_source", "/shop")
        .containsEntry("ce_type", "created")
        .containsEntry("ce_subject", "4711")
        .containsEntry("ce_time", "2026-01-02T03:04:05.678Z")
        .containsEntry("ce_partitionkey", "k")
        .containsEntry("x-event-id", message.id().toString());
  }

  @Test
  void cloudEventsInStructuredMode() throws Exception {
    Message message = Sample.message("k", "{\"n\":1}", Map.of());
    ConsumerRecord<byte[], byte[]> record = sent(Envelope.cloudEventsStructured("/shop"), message);
    assertThat(Topic.headers(record)).containsEntry("content-type", "application/cloudevents+json");
    assertThat(Topic.headers(record).keySet()).noneMatch(name -> name.startsWith("ce_"));
    assertThat(new String(record.value(), UTF_8))
        .startsWith("{\"specversion\":\"1.0\",\"id\":\"" + message.id() + "\",\"source\":\"/shop\"")
        .endsWith(",\"data\":{\"n\":1}}");
  }

  @Test
  void theTopicComesFromTheTemplateAndTheReferenceSaysWhereItWent() throws Exception {
    String namespace = "n-" + topic.name;
    try (Topic own = Topic.create(namespace + ".orders", Map.of());
        KafkaDestination destination = KafkaDestination.open(Broker.config().build())) {
      Route route = new Route(namespace, "orders");
      Outcome outcome =
          Sample.deliver(destination, Sample.message(route, "k", new byte[] {1}, Map.of()));
      ConsumerRecord<byte[], byte[]> record = own.records().get(0);
      assertThat(outcome)
          .isEqualTo(
              Outcome.delivered(own.name + "-" + record.partition() + "@" + record.offset()));
    }
  }
}
