package dev.postrider.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.NoTransactionException;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Message;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class InboxTest {
  private final TestDatabase database = TestDatabase.create();
  private final Inbox inbox = new Inbox();
  private final UUID id = UUID.randomUUID();

  @BeforeEach
  void anEffectThatCanBeCounted() {
    database.execute("create table effect (message uuid)");
  }

  @Test
  @Tag("HE-8")
  void theEffectHappensOnceHoweverOftenTheMessageArrives() throws Exception {
    assertThat(handle(id)).isEqualTo(InboxResult.FIRST);
    assertThat(handle(id)).isEqualTo(InboxResult.DUPLICATE);
    assertThat(effects()).isEqualTo(1);
  }

  @Test
  @Tag("HE-8")
  void consumersDoNotTakeEachOthersMessages() throws Exception {
    handle(id);
    assertThat(inbox.handle(database.dataSource(), "other", Incoming.of(id), this::effect))
        .isEqualTo(InboxResult.FIRST);
  }

  @Test
  @Tag("HE-8")
  void aFailedEffectLeavesTheMessageToBeHandledAgain() throws Exception {
    assertThatThrownBy(
            () ->
                inbox.handle(
                    database.dataSource(),
                    "billing",
                    Incoming.of(id),
                    connection -> {
                      effect(connection);
                      throw new IllegalStateException("half done");
                    }))
        .hasMessage("half done");
    assertThat(effects()).isZero();
    assertThat(handle(id)).isEqualTo(InboxResult.FIRST);
  }

  @Test
  @Tag("HE-8")
  void aConcurrentDuplicateWaitsForTheFirst() throws Exception {
    assertThat(concurrentDuplicate(true)).isEqualTo(InboxResult.DUPLICATE);
    assertThat(effects()).isZero();
  }

  @Test
  @Tag("HE-8")
  void ifTheFirstRollsBackTheOneThatWaitedDoesTheEffect() throws Exception {
    assertThat(concurrentDuplicate(false)).isEqualTo(InboxResult.FIRST);
    assertThat(effects()).isEqualTo(1);
  }

  private InboxResult concurrentDuplicate(boolean commit) throws Exception {
    try (Connection first = database.transaction()) {
      assertThat(inbox.firstTime(first, "billing", id)).isTrue();
      CompletableFuture<InboxResult> second = CompletableFuture.supplyAsync(() -> handle(id));
      Awaitility.await()
          .until(
              () ->
                  database.count(
                          "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                              + " and datname = current_database()")
                      > 0);
      if (commit) {
        first.commit();
      } else {
        first.rollback();
      }
      return second.get();
    }
  }

  @Test
  @Tag("HE-8")
  void refusesAConnectionWithoutATransaction() throws Exception {
    try (Connection connection = database.dataSource().getConnection()) {
      assertThatThrownBy(() -> inbox.firstTime(connection, "billing", id))
          .isInstanceOf(NoTransactionException.class)
          .hasMessageContaining("setAutoCommit(false)");
    }
    assertThat(database.count("select count(*) from postrider.inbox")).isZero();
  }

  @Test
  @Tag("HE-8")
  void aLowerSequenceOfTheSameKeyIsRefused() throws Exception {
    assertThat(handle(new Incoming(UUID.randomUUID(), "bank/a", 5))).isEqualTo(InboxResult.FIRST);
    Incoming late = new Incoming(id, "bank/a", 4);

    assertThat(handle(late)).isEqualTo(InboxResult.STALE);
    assertThat(handle(late)).isEqualTo(InboxResult.STALE);

    assertThat(handle(new Incoming(UUID.randomUUID(), "bank/a", 5))).isEqualTo(InboxResult.STALE);
    assertThat(handle(new Incoming(UUID.randomUUID(), "bank/b", 4))).isEqualTo(InboxResult.FIRST);
    assertThat(handle(new Incoming(UUID.randomUUID(), "bank/a", 6))).isEqualTo(InboxResult.FIRST);
    assertThat(effects()).isEqualTo(3);
  }

  @Test
  @Tag("HE-8")
  @Tag("EN-6")
  void whatAnOperatorSendsAgainIsHandledAlthoughLaterOnesHavePassed() throws Exception {
    // Message 4 died, its key went on, and then it was requeued.
    assertThat(handle(new Incoming(UUID.randomUUID(), "bank/a", 5))).isEqualTo(InboxResult.FIRST);
    Incoming requeued = new Incoming(id, "bank/a", 4, true);

    assertThat(handle(requeued)).isEqualTo(InboxResult.OUT_OF_ORDER);
    assertThat(handle(requeued)).isEqualTo(InboxResult.DUPLICATE);
    assertThat(handle(new Incoming(id, "bank/a", 4))).isEqualTo(InboxResult.DUPLICATE);

    assertThat(effects()).isEqualTo(2);
    assertThat(handle(new Incoming(UUID.randomUUID(), "bank/a", 5)))
        .as("the key's place is not set back")
        .isEqualTo(InboxResult.STALE);
    assertThat(handle(new Incoming(UUID.randomUUID(), "bank/a", 6, true)))
        .isEqualTo(InboxResult.FIRST);
  }

  @Test
  @Tag("HE-8")
  void aRequeuedMessageIsKnownAsSuch() {
    Courier courier = new Courier(database);
    UUID dead = courier.enqueue("'bank', 'payments', key => 'a'");
    courier.kill("boom");
    courier.enqueue("'bank', 'payments', key => 'a'");
    LeaseStore store = new LeaseStore(database.dataSource(), Schema.DEFAULT, "worker");
    assertThat(claim(store)).isEqualTo(InboxResult.FIRST);
    database.execute(
        "select postrider.requeue_dead('ann', '{}', '{" + dead + "}', 1, null, null, null)");
    assertThat(claim(store)).isEqualTo(InboxResult.OUT_OF_ORDER);
  }

  private InboxResult claim(LeaseStore store) {
    List<Message> claimed = store.claim("bank", 1, Duration.ofMinutes(1));
    assertThat(claimed).hasSize(1);
    Message message = claimed.get(0);
    store.ack(message.id());
    return handle(Incoming.of(message));
  }

  private InboxResult handle(UUID message) {
    return handle(Incoming.of(message));
  }

  private InboxResult handle(Incoming message) {
    try {
      return inbox.handle(database.dataSource(), "billing", message, this::effect);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private void effect(Connection connection) throws SQLException {
    connection.createStatement().execute("insert into effect values (gen_random_uuid())");
  }

  private long effects() {
    return database.count("select count(*) from effect");
  }
}
