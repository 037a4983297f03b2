package dev.postrider.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.relay.Relay;
import dev.postrider.testkit.TestPostgres;
import java.sql.Connection;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** A database that restarts or is killed under producers and relays, with fsync on. */
class ServerCrashTest {
  @AutoClose private final TestPostgres database = TestPostgres.startDurable();
  private final Ledger ledger = new Ledger(database);

  @BeforeEach
  void createTables() {
    database.execute(Effects.TABLE + ";" + Producers.TABLE);
  }

  private PGSimpleDataSource dataSource() {
    return (PGSimpleDataSource) database.dataSource();
  }

  @Test
  @Tag("EN-7")
  @Tag("MC-2")
  void relaysAndProducersGoOnAndWhatWasCommittedIsDelivered() {
    Set<String> committed;
    try (Relay first = RelayMain.relay(dataSource(), "first").start();
        Relay second = RelayMain.relay(dataSource(), "second").start()) {
      try (Producers producers = new Producers(dataSource(), 3)) {
        ledger.untilEffects(50);
        database.server().restart();
        ledger.untilEffects(ledger.effects() + 50);
        database.server().kill();
        database.server().restart();
        ledger.untilEffects(ledger.effects() + 50);
        committed = producers.committed();
      }
      ledger.untilEmpty();
    }
    ledger.assertBalanced();
    assertThat(database.column("select dedupe_key from postrider.message"))
        .containsExactlyInAnyOrderElementsOf(committed);
  }

  @Test
  @Tag("EN-7")
  @Tag("MC-2")
  void aProducerThatNeverHeardOfItsCommitSendsAgainAndWritesNothing() throws Exception {
    NewMessage message =
        NewMessage.to("shop", "orders").key("k").dedupeKey("once").json("{}").build();
    Enqueued first;
    try (Connection connection = dataSource().getConnection()) {
      connection.setAutoCommit(false);
      first = new Outbox().enqueue(connection, message);
      connection.commit(); // the acknowledgement is lost with the server
      database.server().kill();
    }
    database.server().restart();
    try (Connection connection = dataSource().getConnection()) {
      connection.setAutoCommit(false);
      Enqueued again = new Outbox().enqueue(connection, message);
      connection.commit();
      assertThat(again.duplicate()).isTrue();
      assertThat(again.id()).isEqualTo(first.id());
      assertThat(again.sequence()).isEqualTo(1);
    }
    assertThat(database.count("select count(*) from postrider.message")).isEqualTo(1);
    try (Relay relay = RelayMain.relay(dataSource(), "relay").start()) {
      ledger.untilEmpty();
    }
    assertThat(ledger.effects()).isEqualTo(1);
  }
}
