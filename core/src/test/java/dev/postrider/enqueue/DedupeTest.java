package dev.postrider.enqueue;

import static dev.postrider.enqueue.Producer.async;
import static dev.postrider.enqueue.Producer.order;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DedupeTest {
  private final Producer producer = Producer.create();

  @Test
  @Tag("MC-2")
  void aKnownDedupeKeyWritesNothingAndReturnsTheFirstId() throws Exception {
    Enqueued first = producer.commit(order().dedupeKey("d").build());
    Enqueued again = producer.commit(order().dedupeKey("d").json("[1]").build());
    assertThat(first.duplicate()).isFalse();
    assertThat(again).isEqualTo(new Enqueued(first.id(), null, true));
    assertThat(producer.messages()).isOne();
    assertThat(producer.queued()).isOne();
  }

  @Test
  @Tag("MC-2")
  @Tag("PO-2")
  void aDeliveredMessageIsStillTheFirst() throws Exception {
    NewMessage message = order().key("k").dedupeKey("d").build();
    Enqueued first = producer.commit(message);
    producer.deliverAll();
    assertThat(producer.queued()).isZero();

    Enqueued known = new Enqueued(first.id(), 1L, true);
    assertThat(producer.commit(message)).isEqualTo(known);
    assertThat(producer.commitBatch(List.of(message))).containsExactly(known);
    assertThat(producer.queued()).isZero();
  }

  @Test
  @Tag("PO-2")
  void aDuplicateTakesNoSequenceNumber() throws Exception {
    producer.commit(order().key("k").dedupeKey("d").build());
    producer.commit(order().key("k").dedupeKey("d").build());
    producer.commitBatch(List.of(order().key("k").dedupeKey("d").build()));
    assertThat(producer.commit(order().key("k").build()).sequence()).isEqualTo(2);
  }

  @Test
  @Tag("MC-2")
  void twoCallsOfOneTransactionAreDedupedToo() throws Exception {
    NewMessage message = order().dedupeKey("d").build();
    List<Enqueued> answers = producer.commit(List.of(message, message));
    assertThat(answers).extracting(Enqueued::id).containsOnly(answers.get(0).id());
    assertThat(answers).extracting(Enqueued::duplicate).containsExactly(false, true);
  }

  @Test
  @Tag("MC-2")
  void anEnqueueWaitsForTheFirstOfItsKeyAndGetsItsId() throws Exception {
    try (Connection first = producer.database().transaction()) {
      Enqueued one = producer.outbox().enqueue(first, order().dedupeKey("d").build());
      CompletableFuture<Enqueued> second =
          async(() -> producer.commit(order().dedupeKey("d").build()));
      CompletableFuture<List<Enqueued>> third =
          async(() -> producer.commitBatch(List.of(order().dedupeKey("d").build())));
      producer.awaitBlocked(2);
      first.commit();
      Enqueued known = new Enqueued(one.id(), null, true);
      assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo(known);
      assertThat(third.get(10, TimeUnit.SECONDS)).containsExactly(known);
    }
    assertThat(producer.messages()).isOne();
  }

  @Test
  @Tag("MC-2")
  void whenTheFirstRollsBackTheNextIsTheFirst() throws Exception {
    try (Connection first = producer.database().transaction()) {
      Enqueued one = producer.outbox().enqueue(first, order().dedupeKey("d").build());
      CompletableFuture<Enqueued> second =
          async(() -> producer.commit(order().dedupeKey("d").build()));
      producer.awaitBlocked(1);
      first.rollback();
      Enqueued two = second.get(10, TimeUnit.SECONDS);
      assertThat(two.duplicate()).isFalse();
      assertThat(two.id()).isNotEqualTo(one.id());
      assertThat(producer.commit(order().dedupeKey("d").build()).id()).isEqualTo(two.id());
    }
  }

  @Test
  @Tag("MC-2")
  void manyAtOnceMakeOneMessage() throws Exception {
    List<CompletableFuture<Enqueued>> calls =
        Stream.generate(() -> async(() -> producer.commit(order().dedupeKey("d").build())))
            .limit(12)
            .toList();
    List<Enqueued> answers = calls.stream().map(CompletableFuture::join).toList();
    assertThat(answers).extracting(Enqueued::id).containsOnly(answers.get(0).id());
    assertThat(answers).filteredOn(answer -> !answer.duplicate()).hasSize(1);
    assertThat(producer.messages()).isOne();
    assertThat(producer.queued()).isOne();
  }

  @Test
  @Tag("MC-1")
  @Tag("MC-2")
  void everyNamespaceAndTopicHasItsOwnDedupeKeys() throws Exception {
    List<Enqueued> answers =
        Stream.of("a/x", "a/y", "b/x")
            .map(route -> route.split("/"))
            .map(r -> NewMessage.to(r[0], r[1]).json("{}").dedupeKey("d").build())
            .map(message -> async(() -> producer.commit(message)).join())
            .toList();
    assertThat(answers).extracting(Enqueued::duplicate).containsOnly(false);
    assertThat(
            producer
                .database()
                .column("select namespace || '/' || topic from postrider.message_state order by 1"))
        .containsExactly("a/x", "a/y", "b/x");
  }

  @Test
  @Tag("MC-1")
  void aNewTopicUsedByManyAtOnceIsInternedOnce() throws Exception {
    try (Connection first = producer.database().transaction()) {
      producer.outbox().enqueue(first, NewMessage.to("new", "topic").json("{}").build());
      CompletableFuture<Enqueued> second =
          async(() -> producer.commit(NewMessage.to("new", "topic").json("{}").build()));
      producer.awaitBlocked(1);
      first.commit();
      second.get(10, TimeUnit.SECONDS);
    }
    assertThat(producer.database().count("select count(*) from postrider.route")).isOne();
    assertThat(producer.database().count("select count(distinct route) from postrider.queue"))
        .isOne();
  }
}
