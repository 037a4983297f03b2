package dev.postrider.deadletter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.postrider.deadletter.DeadLetterPage.Cursor;
import dev.postrider.error.RefusedException;
import dev.postrider.internal.text.Fingerprint;
import dev.postrider.message.AttemptState;
import dev.postrider.operations.AttemptRecord;
import dev.postrider.operations.Messages;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

class DeadLettersTest {
  private TestDatabase database = TestDatabase.create();
  private Courier courier = new Courier(database);
  private DeadLetters deadLetters = new DeadLetters(database.dataSource(), Schema.DEFAULT);

  @ParameterizedTest
  @ValueSource(ints = {TestDatabase.OLDEST, TestDatabase.NEWEST})
  @Tag("CH-7")
  @Tag("EN-6")
  void requeueOpensANewRecordedDelivery(int version) throws Exception {
    database = TestDatabase.create(version);
    courier = new Courier(database);
    deadLetters = new DeadLetters(database.dataSource(), Schema.DEFAULT);
    UUID id = courier.enqueue("'shop', 'orders'");
    courier.kill("boom");
    assertThat(courier.state(id)).isEqualTo("dead 1.1");

    assertThat(deadLetters.requeue("ann", id)).isTrue();

    assertThat(courier.state(id)).isEqualTo("pending 2.0");
    assertThat(courier.deliver()).containsExactly(id);
    assertThat(courier.state(id)).isEqualTo("delivered 2.1");
    assertThat(audit())
        .containsExactly(
            "ann dead.requeue 1 {\"ids\": [\""
                + id
                + "\"], \"filter\": {\"resolution\": \"any\"}}");
  }

  /** The log compresses headers; a claim's cap counts their real size. */
  @Test
  @Tag("EN-12")
  void requeuedHeadersCountWithTheirRealSize() throws Exception {
    UUID id =
        courier.enqueue(
            "'shop', 'orders', headers => jsonb_build_object('a', repeat('x', 4000), 'b', repeat('y', 4000))");
    courier.kill("boom");
    deadLetters.requeue("ann", id);
    assertThat(database.count("select size from postrider.queue")).isGreaterThan(8000);
  }

  @Test
  @Tag("EN-6")
  void onlyADeadMessageIsRequeued() throws Exception {
    UUID delivered = courier.enqueue("'shop', 'orders'");
    courier.deliver();
    UUID pending = courier.enqueue("'shop', 'orders'");

    assertThat(deadLetters.requeue("ann", List.of(delivered, pending))).isZero();

    assertThat(courier.state(delivered)).isEqualTo("delivered 1.1");
    assertThat(courier.state(pending)).isEqualTo("pending 1.0");
  }

  @Test
  @Tag("CH-7")
  void twoOperatorsRequeueTheSameOnce() throws Exception {
    UUID id = courier.enqueue("'shop', 'orders'");
    courier.kill("boom");
    try (Connection first = database.transaction()) {
      first
          .createStatement()
          .execute("select postrider.requeue_dead('ann', '{}', array['" + id + "'::uuid], 500)");
      CompletableFuture<Boolean> second = CompletableFuture.supplyAsync(() -> requeue("bob", id));
      awaitSomeoneWaiting();
      first.commit();
      assertThat(second.get()).isFalse();
    }
    assertThat(courier.deliver()).containsExactly(id);
    assertThat(courier.state(id)).isEqualTo("delivered 2.1");
  }

  @Test
  @Tag("CH-7")
  void requeueByFilterTakesOnlyWhatMatches() throws Exception {
    UUID match =
        courier.enqueue(
            "'shop', 'orders', tenant => 't1', aggregate_type => 'o', aggregate_id => '1'");
    courier.enqueue("'shop', 'orders', tenant => 't2', aggregate_type => 'o', aggregate_id => '1'");
    courier.enqueue("'shop', 'orders', tenant => 't1'");
    courier.enqueue(
        "'shop', 'refunds', tenant => 't1', aggregate_type => 'o', aggregate_id => '1'");
    courier.kill("boom");
    courier.enqueue("'shop', 'orders', tenant => 't1', aggregate_type => 'o', aggregate_id => '1'");
    courier.kill("bang");

    DeadLetterFilter filter =
        DeadLetterFilter.all()
            .namespace("shop")
            .topic("orders")
            .tenant("t1")
            .aggregateType("o")
            .code("boom")
            .diedBefore(Instant.now().plusSeconds(60));
    assertThat(deadLetters.requeue("ann", filter, count -> true)).isEqualTo(1);
    assertThat(courier.deliver()).containsExactly(match);
  }

  @Test
  @Tag("CH-7")
  void aBulkRequeueRunsInBatchesAndCountsInOneAuditRow() throws Exception {
    enqueueMany(1200);
    courier.kill("boom");
    List<Long> progress = new ArrayList<>();

    long count = deadLetters.requeue("ann", DeadLetterFilter.all(), progress::add);

    assertThat(count).isEqualTo(1200);
    assertThat(progress).containsExactly(500L, 1000L, 1200L);
    assertThat(audit()).containsExactly("ann dead.requeue 1200 {\"filter\": {}}");
    assertThat(courier.deliver()).hasSize(1200);
  }

  @Test
  @Tag("CH-7")
  void aBulkRequeueStopsWhenToldAndLeavesOutWhatDiesMeanwhile() throws Exception {
    enqueueMany(600);
    courier.kill("boom");

    long count =
        deadLetters.requeue(
            "ann",
            DeadLetterFilter.all(),
            soFar -> {
              courier.kill("again");
              return true;
            });
    assertThat(count).isEqualTo(600);
    assertThat(deadLetters.requeue("ann", DeadLetterFilter.all(), soFar -> false)).isEqualTo(500);
  }

  /** Of three kinds of errors; those with the text "order N is locked" are of one. */
  private void threeKinds(int each) {
    enqueueMany(3 * each);
    courier.kill("boom");
    database.execute(
        """
        with numbered as (
          select message_id, row_number() over () as n from postrider.dead_letter where code = 'boom')
        update postrider.dead_letter d
           set code = 'kinds', error = case n.n % 3 when 0 then 'order ' || n.n || ' is locked' when 1 then 'disk full' end
          from numbered n where n.message_id = d.message_id
        """);
  }

  private static final DeadLetterFilter LOCKED =
      DeadLetterFilter.all().fingerprint(Fingerprint.of("order 1 is locked"));

  @Test
  @Tag("CH-7")
  @Tag("OP-2")
  void oneKindOfErrorIsRequeuedInOneAuditRowAndWhatDiesMeanwhileIsLeft() throws Exception {
    threeKinds(600);
    List<Long> progress = new ArrayList<>();

    long count =
        deadLetters.requeue(
            "ann",
            LOCKED.namespace("shop"),
            soFar -> {
              courier.kill("again");
              database.execute(
                  "update postrider.dead_letter set error = 'order 7 is locked' where code = 'again'");
              return progress.add(soFar) && progress.size() < 100;
            });

    assertThat(count).isEqualTo(600);
    assertThat(audit())
        .singleElement()
        .asString()
        .contains("ann dead.requeue 600", "\"fingerprint\": ", "\"to\": ", "\"topic\": \"orders\"")
        .doesNotContain("ids");
    assertThat(listAll(LOCKED, false, 1000)).as("those that died again").hasSize(600);
  }

  @Test
  @Tag("CH-7")
  void oneKindOfErrorIsDiscardedNoFurtherThanATime() throws Exception {
    threeKinds(3);
    Instant until = deadLetters.list(LOCKED, true, null, 1).items().get(0).diedAt().plusNanos(1000);
    threeKinds(3);
    assertThat(deadLetters.discard("ann", "a test", LOCKED.diedBefore(until), soFar -> true))
        .isEqualTo(3);
    assertThat(deadLetters.list(LOCKED, true, null, 10).items()).hasSize(3);
    assertThat(deadLetters.discard("ann", "a test", LOCKED.diedBefore(until), soFar -> true))
        .isZero();
  }

  @Test
  @Tag("CH-7")
  void oneKindOfErrorIsListedByPages() throws Exception {
    threeKinds(10);
    assertThat(listAll(LOCKED, true, 3)).hasSize(10).doesNotHaveDuplicates();
    assertThat(deadLetters.list(LOCKED, false, null, 3).items())
        .hasSize(3)
        .allMatch(letter -> letter.error() != null && letter.error().endsWith("is locked"));
    assertThatThrownBy(() -> DeadLetterFilter.all().fingerprint("locked"))
        .hasMessageContaining("fingerprint");
    assertThatThrownBy(
            () ->
                database.execute(
                    "select postrider.requeue_dead('ann', '{\"fingerprint\": \"x\"}', null, 5)"))
        .hasStackTraceContaining("unknown condition 'fingerprint'");
  }

  @Test
  @Tag("CH-7")
  void listsByPagesInBothDirections() throws Exception {
    List<UUID> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      ids.add(courier.enqueue("'shop', 'orders'"));
      courier.kill("boom");
    }
    assertThat(listAll(DeadLetterFilter.all(), false, 2)).containsExactlyElementsOf(ids);
    List<UUID> newestFirst = new ArrayList<>(ids);
    Collections.reverse(newestFirst);
    assertThat(listAll(DeadLetterFilter.all(), true, 2)).containsExactlyElementsOf(newestFirst);
    assertThatThrownBy(() -> deadLetters.list(DeadLetterFilter.all(), true, null, 100_000))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("from 1 to 1000");
  }

  @Test
  @Tag("CH-7")
  void aRareConditionIsFoundBehindManyThatDoNotMatch() throws Exception {
    enqueueMany(1000);
    courier.kill("boom");
    database.execute(
        """
        insert into postrider.dead_letter (message_id, delivery, route, attempts, died_at, code)
        select postrider.new_id(), 1, 1, 1, now() - interval '1 hour', 'old'
          from generate_series(1, 11000)
        """);
    DeadLetterPage page = deadLetters.list(DeadLetterFilter.all().code("boom"), false, null, 3);
    assertThat(page.items()).hasSize(3).allMatch(d -> "boom".equals(d.code()));
  }

  @Test
  @Tag("CH-7")
  void aPageLooksAtABoundedNumberOfDeadLetters() throws Exception {
    courier.enqueue("'shop', 'orders'");
    courier.kill("boom");
    database.execute(
        """
        insert into postrider.dead_letter (message_id, delivery, route, attempts, died_at, code)
        select postrider.new_id(), 1, 1, 1, now() - interval '1 hour', 'old'
          from generate_series(1, 100000)
        """);
    DeadLetterFilter boom = DeadLetterFilter.all().code("boom");
    DeadLetterPage page = deadLetters.list(boom, false, null, 3);
    assertThat(page.items()).isEmpty();
    assertThat(deadLetters.list(boom, false, page.next(), 3).items()).hasSize(1);
  }

  @Test
  @Tag("CH-7")
  void theTimelineShowsEveryAttemptOfEveryDelivery() throws Exception {
    UUID id = courier.enqueue("'shop', 'orders', headers => '{\"a\": \"b\"}'");
    courier.kill("boom");
    deadLetters.requeue("ann", id);
    courier.deliver();

    Messages messages = new Messages(database.dataSource(), Schema.DEFAULT);
    assertThat(messages.attempts(id))
        .extracting(AttemptRecord::delivery, AttemptRecord::no, AttemptRecord::state)
        .containsExactly(tuple(1, 1, AttemptState.FAILED), tuple(2, 1, AttemptState.DISPATCHED));
    assertThat(messages.find(id).orElseThrow().headers()).isEqualTo(Map.of("a", "b"));
  }

  @Test
  @Tag("CH-7")
  void discardNeedsAReasonAndIsFinalUntilRequeuedByHand() throws Exception {
    UUID id = courier.enqueue("'shop', 'orders'");
    courier.kill("boom");
    assertThatThrownBy(() -> deadLetters.discard("ann", " ", id)).hasMessageContaining("reason");
    assertThat(deadLetters.discard("ann", "duplicate order", id)).isTrue();

    assertThat(courier.state(id)).isEqualTo("dead 1.1");
    assertThat(deadLetters.requeue("ann", DeadLetterFilter.all(), n -> true)).isZero();
    DeadLetter discarded =
        deadLetters.list(DeadLetterFilter.all().discarded(), false, null, 10).items().get(0);
    assertThat(discarded.discardReason()).isEqualTo("duplicate order");
    assertThat(audit().get(0)).contains("ann dead.discard 1", "duplicate order");

    assertThat(deadLetters.requeue("bob", id)).isTrue();
    courier.deliver();
    assertThat(courier.state(id)).isEqualTo("delivered 2.1");
  }

  @Test
  @Tag("CH-7")
  void aMisspeltConditionIsRefusedRatherThanMatchingEverything() {
    assertThatThrownBy(() -> DeadLetterFilter.of(Map.of("namspace", "shop")))
        .hasMessageContaining("namspace");
    assertThatThrownBy(
            () ->
                database.execute(
                    "select postrider.discard_dead('ann', 'why', '{\"namspace\": \"x\"}', null, 5)"))
        .hasStackTraceContaining("unknown condition 'namspace'");
  }

  @Test
  @Tag("CH-7")
  void requeueRingsForASleepingRelay() throws Exception {
    UUID id = courier.enqueue("'shop', 'orders'");
    courier.kill("boom");
    try (Connection listener = database.dataSource().getConnection()) {
      listener.createStatement().execute("listen postrider");
      deadLetters.requeue("ann", id);
      assertThat(listener.unwrap(PGConnection.class).getNotifications(10_000)).hasSize(1);
    }
  }

  private boolean requeue(String actor, UUID id) {
    try {
      return deadLetters.requeue(actor, id);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private void awaitSomeoneWaiting() {
    Awaitility.await()
        .until(
            () ->
                database.count(
                        "select count(*) from pg_stat_activity"
                            + " where wait_event_type = 'Lock' and datname = current_database()")
                    > 0);
  }

  private void enqueueMany(int count) {
    database.execute(
        "select postrider.enqueue('shop', 'orders', '{}') from generate_series(1, " + count + ")");
  }

  private List<UUID> listAll(DeadLetterFilter filter, boolean newestFirst, int limit)
      throws SQLException {
    List<UUID> all = new ArrayList<>();
    @Nullable Cursor next = null;
    do {
      DeadLetterPage page = deadLetters.list(filter, newestFirst, next, limit);
      page.items().forEach(letter -> all.add(letter.id()));
      next = page.next();
    } while (next != null);
    return all;
  }

  private List<String> audit() {
    return database.column(
        "select actor || ' ' || action || ' ' || count || ' ' || detail from postrider.audit order by id");
  }
}
