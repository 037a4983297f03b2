package dev.postrider.enqueue;

import static dev.postrider.enqueue.Producer.async;
import static dev.postrider.enqueue.Producer.order;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.testrules.NoSecondChance;
import java.sql.Connection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@NoSecondChance
class SequenceTest {
  private static final int PRODUCERS = 4;
  private static final int EACH = 40;

  private final Producer producer = Producer.create();

  @Test
  @Tag("PO-1")
  void aProducerWaitsForTheOneBeforeItOnTheSameKey() throws Exception {
    producer.commit(order().build());
    try (Connection first = producer.database().transaction()) {
      assertThat(enqueue(first).sequence()).isEqualTo(1);
      CompletableFuture<Enqueued> second = async(() -> producer.commit(keyed()));
      producer.awaitBlocked(1);
      assertThat(producer.commit(order().key("other").build()).sequence()).isEqualTo(1);
      assertThat(enqueue(first).sequence()).isEqualTo(2);
      first.commit();
      assertThat(second.get(10, TimeUnit.SECONDS).sequence()).isEqualTo(3);
    }
  }

  @Test
  @Tag("PO-1")
  void aRollbackLeavesNoHole() throws Exception {
    producer.commit(keyed());
    try (Connection doomed = producer.database().transaction()) {
      assertThat(enqueue(doomed).sequence()).isEqualTo(2);
      CompletableFuture<Enqueued> next = async(() -> producer.commit(keyed()));
      producer.awaitBlocked(1);
      doomed.rollback();
      assertThat(next.get(10, TimeUnit.SECONDS).sequence()).isEqualTo(2);
    }
  }

  @Test
  @Tag("PO-1")
  void aRollbackOfAKeysVeryFirstMessageLeavesNoHole() throws Exception {
    try (Connection doomed = producer.database().transaction()) {
      enqueue(doomed);
      CompletableFuture<List<Enqueued>> next = async(() -> producer.commitBatch(List.of(keyed())));
      producer.awaitBlocked(1);
      doomed.rollback();
      assertThat(next.get(10, TimeUnit.SECONDS).get(0).sequence()).isEqualTo(1);
    }
  }

  /** If what is visible is 1 to n at every instant, then commit order is sequence order. */
  @Test
  @Tag("PO-1")
  void whatIsVisibleHasNoGapAtAnyInstant() throws Exception {
    List<CompletableFuture<Integer>> runs =
        IntStream.range(0, PRODUCERS).mapToObj(seed -> async(() -> produce(seed))).toList();
    CompletableFuture<Void> all =
        CompletableFuture.allOf(runs.toArray(CompletableFuture<?>[]::new));
    try (Connection reader = producer.database().dataSource().getConnection();
        var look =
            reader.prepareStatement(
                "select coalesce(max(sequence), 0) - count(*) from postrider.message")) {
      while (!all.isDone()) {
        try (var row = look.executeQuery()) {
          assertThat(row.next()).isTrue();
          assertThat(row.getLong(1)).isZero();
        }
      }
    }
    all.get();
    long committed = runs.stream().mapToLong(CompletableFuture::join).sum();
    assertThat(producer.database().column("select sequence from postrider.queue order by 1"))
        .containsExactlyElementsOf(
            LongStream.rangeClosed(1, committed).mapToObj(Long::toString).toList());
  }

  @Test
  @Tag("PO-2")
  void aKeysSequenceNumberIsUnique() throws Exception {
    producer.commit(keyed());
    assertThatThrownBy(
            () ->
                producer
                    .database()
                    .execute(
                        """
                        insert into postrider.queue (id, key_id, sequence, route, size, lane)
                        select postrider.new_id(), key_id, sequence, route, size, lane
                          from postrider.queue
                        """))
        .rootCause()
        .hasMessageContaining("queue_by_key");
  }

  @Test
  @Tag("MC-1")
  @Tag("PO-1")
  void aKeyIsCountedPerNamespaceAcrossItsTopics() throws Exception {
    assertThat(
            producer.commit(
                List.of(
                    NewMessage.to("a", "x").json("{}").key("k").build(),
                    NewMessage.to("a", "y").json("{}").key("k").build(),
                    NewMessage.to("b", "x").json("{}").key("k").build())))
        .extracting(Enqueued::sequence)
        .containsExactly(1L, 2L, 1L);
  }

  /** Singles and batches, of which every fifth is rolled back; returns what was committed. */
  private int produce(int seed) throws Exception {
    int committed = 0;
    try (Connection connection = producer.database().transaction()) {
      for (int i = seed; i < seed + EACH; i++) {
        int messages = 1 + i % 3;
        if (messages == 1) {
          enqueue(connection);
        } else {
          producer.outbox().enqueue(connection, Collections.nCopies(messages, keyed()));
        }
        if (i % 5 == 0) {
          connection.rollback();
        } else {
          connection.commit();
          committed += messages;
        }
      }
    }
    return committed;
  }

  private Enqueued enqueue(Connection connection) throws Exception {
    return producer.outbox().enqueue(connection, keyed());
  }

  private static NewMessage keyed() {
    return order().key("k").build();
  }
}
