package dev.postrider.enqueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MessageFieldsTest {
  private static final String AWKWARD = "Zoë \"quoted\" \\ 漢字 😀\n\t\u0001";

  private final Producer producer = Producer.create();

  @Test
  @Tag("EN-3")
  void onlyNamespaceTopicAndPayloadAreMandatory() throws Exception {
    Enqueued enqueued = producer.commit(NewMessage.to("shop", "orders").json("{}").build());

    assertThat(enqueued.id().version()).isEqualTo(7);
    assertThat(enqueued.id().variant()).isEqualTo(2);
    assertThat(enqueued.sequence()).isNull();
    assertThat(enqueued.duplicate()).isFalse();
    assertThat(
            producer
                .database()
                .value(
                    """
                    select num_nulls(not_before, key_id, sequence, tenant, aggregate_type,
                      aggregate_id, event_type, ordering_key, dedupe_key, content_type, headers)
                      from postrider.message
                    """))
        .isEqualTo("11");
    assertThat(
            producer
                .database()
                .value(
                    """
                    select abs(extract(epoch from postrider.id_time(id) - created_at)) < 5
                      from postrider.message
                    """))
        .isEqualTo("t");
  }

  @Test
  @Tag("EN-3")
  void everyFieldIsKeptBySingleCall() throws Exception {
    Enqueued enqueued = producer.commit(full());
    assertKept(enqueued);
  }

  @Test
  @Tag("EN-3")
  void everyFieldIsKeptByBatch() throws Exception {
    Enqueued enqueued = producer.commitBatch(List.of(full())).get(0);
    assertKept(enqueued);
  }

  @Test
  @Tag("EN-3")
  void aPayloadOfAnyBytesIsKept() throws Exception {
    byte[] bytes = {0, 1, -1, -128, 127, 10};
    NewMessage message =
        NewMessage.to("shop", "scans").payload(bytes, "application/octet-stream").build();
    producer.commit(message);
    producer.commitBatch(List.of(message));
    assertThat(
            producer
                .database()
                .column(
                    "select encode(payload, 'hex') || ' ' || content_type from postrider.message"))
        .containsOnly("0001ff807f0a application/octet-stream")
        .hasSize(2);
  }

  @Test
  @Tag("EN-3")
  void aJsonPayloadIsKeptToTheByte() throws Exception {
    String json = "{ \"b\":1.10, \"a\" : \"" + "漢\\u0000😀" + "\", \"b\":2 }";
    NewMessage message = NewMessage.to("shop", "orders").json(json).build();
    producer.commit(message);
    producer.commitBatch(List.of(message));
    assertThat(
            producer
                .database()
                .column("select convert_from(payload, 'UTF8') from postrider.message"))
        .containsExactly(json, json);
    assertThat(producer.database().column("select size from postrider.queue"))
        .containsOnly(String.valueOf(json.getBytes(StandardCharsets.UTF_8).length));
  }

  @Test
  @Tag("EN-3")
  void aDelayedMessageWaitsForItsTime() throws Exception {
    Instant later = Instant.now().plus(1, ChronoUnit.HOURS).truncatedTo(ChronoUnit.MICROS);
    NewMessage message = Producer.order().notBefore(later).build();
    producer.commit(message);
    producer.commitBatch(List.of(message));
    producer.deliverAll();
    assertThat(producer.queued()).isEqualTo(2);
    assertThat(
            producer
                .database()
                .column(
                    """
                    select to_char(next_attempt_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
                      from postrider.message_state
                    """))
        .allSatisfy(at -> assertThat(Instant.parse(at)).isEqualTo(later));
  }

  @Test
  @Tag("EN-3")
  void aDelayThatIsOverIsNoDelay() throws Exception {
    producer.commit(Producer.order().notBefore(Instant.now().minusSeconds(60)).build());
    producer.deliverAll();
    assertThat(producer.queued()).isZero();
  }

  private static NewMessage full() {
    return NewMessage.to("shop", "orders")
        .json("{\"n\":1}")
        .key("customer/" + AWKWARD)
        .dedupeKey("dedupe/" + AWKWARD)
        .tenant("tenant/" + AWKWARD)
        .aggregate("order/" + AWKWARD, "4711/" + AWKWARD)
        .eventType("created/" + AWKWARD)
        .header("name/" + AWKWARD, "value/" + AWKWARD)
        .notBefore(Instant.now().minusSeconds(1))
        .build();
  }

  private void assertKept(Enqueued enqueued) {
    NewMessage full = full();
    assertThat(enqueued.sequence()).isEqualTo(1);
    assertThat(
            producer
                .database()
                .column(
                    """
                    select unnest(array[id::text, ordering_key, dedupe_key, tenant, aggregate_type,
                      aggregate_id, event_type, (select value from jsonb_each_text(headers)),
                      (select key from jsonb_each_text(headers))])
                      from postrider.message
                    """))
        .containsExactly(
            enqueued.id().toString(),
            full.key(),
            full.dedupeKey(),
            full.tenant(),
            full.aggregateType(),
            full.aggregateId(),
            full.eventType(),
            "value/" + AWKWARD,
            "name/" + AWKWARD);
  }
}
