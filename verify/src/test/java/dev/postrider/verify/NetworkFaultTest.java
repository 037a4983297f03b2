package dev.postrider.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.error.DatabaseError;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.jdbc.Database.Session;
import dev.postrider.relay.Relay;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.postgresql.ds.PGSimpleDataSource;

/** A network to the database that fails at the worst moment. */
class NetworkFaultTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Duration SECOND = Duration.ofSeconds(1);

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

  /** Retention and operators would wait for an answer for ever. */
  @Test
  @Tag("OP-8")
  @Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
  void aStatementOnADeadConnectionEnds() throws Exception {
    Database operator = new Database(wire.through(database.jdbcUrl()), Schema.DEFAULT);
    assertThat(one(operator)).containsExactly(1);
    for (String sql : List.of("select 1", "select postrider.archive_begin()")) {
      try (Session session = Database.within(SECOND, operator::open)) {
        wire.freeze();
        assertThatThrownBy(
                () -> Database.within(SECOND, () -> session.list(sql, row -> row.getString(1))))
            .as(sql)
            .isInstanceOfSatisfying(
                SQLException.class,
                e -> assertThat(DatabaseError.of(e)).isEqualTo(DatabaseError.TRANSIENT));
      }
      wire.thaw();
    }
    assertThat(one(operator)).containsExactly(1);
  }

  private static List<Integer> one(Database database) throws SQLException {
    return database.list("select 1", row -> row.getInt(1));
  }

  private long leases() {
    return database.count("select count(*) from postrider.lease");
  }
}
