package dev.postrider.examples.usagebilling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.enqueue.Outbox;
import dev.postrider.examples.stage.ChildProcess;
import dev.postrider.examples.stage.Stage;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Debits, messages and ledger lines match, whoever races and whoever dies. */
class BillingCompletenessTest {
  private static final int TURNS = 150;
  private static final int FINALIZERS = 3;

  @AutoClose private final Chat chat = new Chat();
  private final UUID tenant = chat.tenant(1_000_000_000);
  private final AtomicInteger won = new AtomicInteger();

  private ChildProcess dispatcher(String name) {
    return ChildProcess.start(UsageDispatcher.class, chat.database.jdbcUrl(), "ledger", name);
  }

  @Test
  @Tag("MC-12")
  @Tag("MC-11")
  @Tag("MC-10")
  @Tag("MC-6")
  void debitsMessagesAndLedgerLinesMatchWhoeverDies() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2 * FINALIZERS);
    List<ChildProcess> dispatchers = new ArrayList<>();
    try {
      CompletableFuture<?> finalizers = startFinalizers(threads);
      for (String name : List.of("first", "second", "heir")) {
        dispatchers.add(dispatcher(name));
      }
      killWhilePosting(dispatchers.get(0), "first");
      breakAFinalizer();
      killWhilePosting(dispatchers.get(1), "second");
      finalizers.get(1, TimeUnit.MINUTES);
      chat.untilDelivered();
    } finally {
      threads.shutdownNow();
      dispatchers.forEach(ChildProcess::kill);
    }
    long turns = chat.database.count("select count(*) from mini_chat.turn");
    assertThat(won).as("finalizers that won").hasValue((int) turns);
    assertThat(chat.database.count(Chat.DEBITS)).isEqualTo(turns);
    assertThat(chat.database.count(Chat.MESSAGES)).isEqualTo(turns);
    assertThat(chat.database.count(Chat.LEDGER)).isEqualTo(turns);
    assertThat(chat.database.count("select sum(credits) from billing.ledger"))
        .isEqualTo(chat.used(tenant));
    assertThat(zombies()).as("taken over from the dead").isPositive();
  }

  /** Each turn is ended by several at once; one that fails tries again, as a service would. */
  private CompletableFuture<?> startFinalizers(ExecutorService threads) throws Exception {
    Turns turns =
        new Turns(
            Stage.dataSource(chat.database.jdbcUrl() + "&ApplicationName=finalizer"), new Outbox());
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int i = 0; i < TURNS; i++) {
      UUID turn = chat.turn(tenant, "hello");
      for (int racer = 0; racer < FINALIZERS; racer++) {
        TurnEnd end = racer == 0 ? TurnEnd.cancelled() : TurnEnd.completed(1000 + racer, 500);
        all.add(CompletableFuture.runAsync(() -> finish(turns, turn, end), threads));
      }
    }
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
  }

  private void finish(Turns turns, UUID turn, TurnEnd end) {
    for (int tries = 0; tries < 5; tries++) {
      try {
        if (turns.finish(turn, end)) {
          won.incrementAndGet();
        }
        return;
      } catch (SQLException e) {
        // once more
      }
    }
    throw new IllegalStateException("the database is gone for good");
  }

  /** The lock keeps billing from answering, so that the kill comes in the middle of a batch. */
  private void killWhilePosting(ChildProcess dispatcher, String name) throws Exception {
    try (Connection connection = chat.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("lock table billing.ledger in share mode");
      // The others take only so many: sooner or later one more turn is the victim's.
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                finish(chat.turns, chat.turn(tenant, "one more"), TurnEnd.cancelled());
                return leases(name) > 0 && balanced();
              });
      dispatcher.kill();
    }
    assertThat(balanced()).isTrue();
  }

  /** What a killed service looks like to the database: its transaction is cut off half way. */
  private void breakAFinalizer() {
    chat.database.column(
        "select pg_terminate_backend(pid) from pg_stat_activity"
            + " where application_name = 'finalizer' limit 1");
    assertThat(balanced()).isTrue();
  }

  /** One statement, one snapshot: it has to be true at every instant, not only in the end. */
  private boolean balanced() {
    return chat.database.count("select (%s) - (%s)".formatted(Chat.DEBITS, Chat.MESSAGES)) == 0;
  }

  private long leases(String name) {
    return chat.database.count(
        "select count(*) from postrider.lease l join postrider.worker w on w.id = l.worker"
            + (" where w.name like '" + name + "/%'"));
  }

  private long zombies() {
    return chat.database.count(
        "select count(*) from postrider.attempt_history where state = 'ZOMBIE_REQUEUE'");
  }
}
