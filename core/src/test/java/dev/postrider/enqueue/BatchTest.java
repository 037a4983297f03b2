package dev.postrider.enqueue;

import static dev.postrider.enqueue.Producer.async;
import static dev.postrider.enqueue.Producer.order;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class BatchTest {
  private final Producer producer = Producer.create();

  @Test
  @Tag("EN-5")
  void answersComeInTheOrderOfTheMessages() throws Exception {
    Enqueued known = producer.commit(order().key("z").dedupeKey("known").build());
    List<Enqueued> answers =
        producer.commitBatch(
            List.of(
                order().key("z").build(),
                order().build(),
                order().key("a").dedupeKey("new").build(),
                order().key("z").dedupeKey("known").build(),
                order().key("a").dedupeKey("new").build(),
                order().key("z").build(),
                NewMessage.to("archive", "files").payload(new byte[] {1}, "x/y").key("a").build()));

    assertThat(answers)
        .extracting(Enqueued::sequence)
        .containsExactly(2L, null, 1L, 1L, 1L, 3L, 1L);
    assertThat(answers)
        .extracting(Enqueued::duplicate)
        .containsExactly(false, false, false, true, true, false, false);
    assertThat(answers.get(3).id()).isEqualTo(known.id());
    assertThat(answers.get(4).id()).isEqualTo(answers.get(2).id());
    assertThat(producer.messages()).isEqualTo(6);
    assertThat(producer.queued()).isEqualTo(6);
  }

  @Test
  @Tag("EN-5")
  void aBatchWritesTheSameRowsAsSingleCalls() throws Exception {
    List<NewMessage> messages =
        IntStream.range(0, 50)
            .mapToObj(i -> order().key("k" + i % 7).header("n", "" + i).json("" + i).build())
            .toList();
    producer.commit(messages);
    List<String> singles = rows();
    producer.deliverAll();
    producer.database().execute("truncate postrider.message, postrider.ordering_key");
    List<Enqueued> answers = producer.commitBatch(messages);

    assertThat(rows()).isEqualTo(singles);
    assertThat(answers).extracting(e -> e.id().toString()).isSorted().doesNotHaveDuplicates();
    assertThat(
            producer
                .database()
                .count(
                    """
                    select count(*) from postrider.queue q
                      join postrider.message m using (id, route, key_id, sequence)
                     where q.lane = postrider.lane_of(m.tenant) and q.size = length(m.payload) + coalesce(pg_column_size(m.headers), 0)
                    """))
        .isEqualTo(50);
  }

  @Test
  @Tag("EN-5")
  void anEmptyBatchIsNothing() throws Exception {
    assertThat(producer.commitBatch(List.of())).isEmpty();
    assertThat(producer.database().column("select id from postrider.enqueue_batch('[]')"))
        .isEmpty();
  }

  /**
   * Both batches are brought to a halt half way, by a third transaction that holds what lies in the
   * middle. If they took their locks in the order of their messages, each would then hold what the
   * other needs next.
   */
  @Test
  @Tag("EN-5")
  void batchesInOppositeOrderDoNotDeadlock() throws Exception {
    for (List<NewMessage> batch : List.of(byKey(), byDedupeKey(), byTopic(), byBoth())) {
      List<NewMessage> reversed = new ArrayList<>(batch);
      Collections.reverse(reversed);
      try (Connection middle = producer.database().transaction()) {
        producer.outbox().enqueue(middle, batch.get(1));
        CompletableFuture<List<Enqueued>> one = async(() -> producer.commitBatch(batch));
        producer.awaitBlocked(1);
        CompletableFuture<List<Enqueued>> other = async(() -> producer.commitBatch(reversed));
        producer.awaitBlocked(2);
        middle.commit();
        assertThat(one.get(10, TimeUnit.SECONDS)).hasSize(3);
        assertThat(other.get(10, TimeUnit.SECONDS)).hasSize(3);
      }
    }
  }

  private static List<NewMessage> byKey() {
    return Stream.of("a", "m", "z").map(k -> order().key(k).build()).toList();
  }

  private static List<NewMessage> byDedupeKey() {
    return Stream.of("a", "m", "z").map(k -> order().dedupeKey(k).build()).toList();
  }

  private static List<NewMessage> byTopic() {
    return Stream.of("a", "m", "z").map(t -> NewMessage.to("new", t).json("{}").build()).toList();
  }

  private static List<NewMessage> byBoth() {
    return List.of(
        order().key("a").dedupeKey("z2").build(),
        order().key("m").dedupeKey("m2").build(),
        order().key("z").dedupeKey("a2").build());
  }

  private List<String> rows() {
    List<String> rows =
        producer
            .database()
            .column(
                """
                select concat_ws(' ', ordering_key, sequence, headers, convert_from(payload, 'UTF8'))
                  from postrider.message order by id
                """);
    return rows.stream().map(Objects::requireNonNull).toList();
  }
}
