package dev.postrider.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.relay.Relay;
import dev.postrider.testkit.TestPostgres;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** A network to the database that fails at the worst moment. */
class NetworkFaultTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @AutoClose private final TestPostgres database = TestPostgres.start();

  @AutoClose private final PostgresWire wire = new PostgresWire(database.server().port());

  private final Ledger ledger = new Ledger(database);

  @BeforeEach
  void createTables() {
    database.execute(Effects.TABLE + ";" + Producers.TABLE);
  }

  private PGSimpleDataSource direct() {
    return (PGSimpleDataSource) database.dataSource();
  }

  /**
   * Nobody can tell whether it was committed: a producer asks again, a relay forgets its leases.
   */
  @Test
  @Tag("EN-7")
  @Tag("MC-2")
  void acknowledgementsOfCommitsAreLost() {
    PGSimpleDataSource unreliable = wire.through(database.jdbcUrl());
    wire.loseCommits(number -> number % 7 == 0);
    Set<String> committed;
    try (Relay first = RelayMain.relay(unreliable, "first").start();
        Relay second = RelayMain.relay(unreliable, "second").start()) {
      try (Producers producers = new Producers(unreliable, 3)) {
        await().atMost(LIMIT).until(() -> wire.lost() >= 40);
        committed = producers.committed();
      }
      wire.loseCommits(number -> false);
      ledger.untilEmpty();
    }
    ledger.assertBalanced();
    assertThat(database.column("select dedupe_key from postrider.message"))
        .containsExactlyInAnyOrderElementsOf(committed);
  }

  /** No error tells the relay: its leases end, others go on, and what it did late is refused. */
  @Test
  @Tag("EN-7")
  @Tag("PO-13")
  void aConnectionGoesDeadWithoutBeingClosed() {
    try (Relay cutOff = RelayMain.relay(wire.through(database.jdbcUrl()), "cut-off").start()) {
      try (Producers producers = new Producers(direct(), 2)) {
        ledger.untilEffects(50);
        await().atMost(LIMIT).until(() -> leases() > 0);
        wire.freeze();
        try (Relay heir = RelayMain.relay(direct(), "heir").start()) {
          ledger.untilEffects(ledger.effects() + 100);
          producers.close();
          ledger.untilEmpty();
          wire.thaw();
          await().atMost(LIMIT).until(() -> cutOff.status().running());
        }
      }
      ledger.untilEmpty();
    }
    ledger.assertBalanced();
  }

  private long leases() {
    return database.count("select count(*) from postrider.lease");
  }
}
