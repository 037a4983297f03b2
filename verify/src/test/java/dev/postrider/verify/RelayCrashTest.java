package dev.postrider.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.relay.Relay;
import dev.postrider.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Relay processes that are killed, or stand still for longer than their lease. */
class RelayCrashTest {
  @AutoClose private final TestPostgres database = TestPostgres.start();
  private final Ledger ledger = new Ledger(database);

  @BeforeEach
  void createTables() {
    database.execute(Effects.TABLE + ";" + Producers.TABLE);
  }

  private PGSimpleDataSource dataSource() {
    return (PGSimpleDataSource) database.dataSource();
  }

  private void send(int count) throws Exception {
    try (Connection connection = dataSource().getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < count; i++) {
        new Outbox()
            .enqueue(connection, NewMessage.to("shop", "orders").key("k").json("{}").build());
      }
      connection.commit();
    }
  }

  private Connection closeGate() throws Exception {
    Connection connection = dataSource().getConnection();
    try (Statement statement = connection.createStatement()) {
      statement.execute("select pg_advisory_lock(" + Effects.GATE + ")");
    }
    return connection;
  }

  private long attempts(String state) {
    return database.count(
        "select count(*) from postrider.attempt_history where state = '" + state + "'");
  }

  /** So that the next kill hits the middle of a batch. */
  private void untilLeasesOf(String relay) {
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(5))
        .until(
            () ->
                database.count(
                        "select count(*) from postrider.lease l"
                            + " join postrider.worker w on w.id = l.worker"
                            + " where w.name like '"
                            + relay
                            + "/%'")
                    > 0);
  }

  @Test
  @Tag("EN-7")
  @Tag("EN-8")
  void killedAgainAndAgainTheyLoseNothingAndKeepTheOrder() {
    List<RelayProcess> relays = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      relays.add(RelayProcess.start(database.jdbcUrl(), "r" + i));
    }
    try (Producers producers = new Producers(dataSource(), 3)) {
      for (int i = 0; i < 3; i++) {
        untilLeasesOf("r" + i);
        relays.get(i).kill();
      }
      ledger.untilEffects(ledger.effects() + 101); // also after the last kill
    } finally {
      try {
        ledger.untilEmpty();
      } finally {
        relays.forEach(RelayProcess::close);
      }
    }
    ledger.assertBalanced();
    assertThat(ledger.effects()).isGreaterThan(100);
  }

  /** A relay dies between any two steps: fan-out, claim, delivery, settlement. */
  @Test
  @Tag("EN-23")
  void killedAgainAndAgainTheyServeEverySubscription() {
    for (String name : List.of("copy", "other")) {
      database.execute(
          "select postrider.subscription_add('ann', 'shop', 'orders', '" + name + "')");
    }
    List<RelayProcess> relays = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      relays.add(RelayProcess.start(database.jdbcUrl(), "r" + i, i % 2 == 0 ? "copy" : "other"));
    }
    try (Producers producers = new Producers(dataSource(), 3)) {
      for (int i = 0; i < 2; i++) {
        untilLeasesOf("r" + i);
        relays.get(i).kill();
        ledger.untilEffects(ledger.effects() + 100);
      }
    } finally {
      try {
        ledger.untilEmpty();
      } finally {
        relays.forEach(RelayProcess::close);
      }
    }
    ledger.assertBalanced();
    ledger.assertComplete("");
    ledger.assertComplete("copy");
    ledger.assertComplete("other");
  }

  @Test
  @Tag("EN-7")
  @Tag("PO-10")
  void killedInTheMiddleOfABatchTheyAreTakenOverAfterTheirLease() throws Exception {
    send(10);
    try (Connection gate = closeGate();
        RelayProcess victim = RelayProcess.start(database.jdbcUrl(), "victim")) {
      ledger.untilEffects(1); // the effect is there, the answer is not
      victim.kill();
    }
    try (Relay heir = RelayMain.relay(dataSource(), "heir").start()) {
      ledger.untilEmpty();
    }
    assertThat(attempts("ZOMBIE_REQUEUE")).isPositive();
    assertThat(database.column("select sequence || relay from effect order by no"))
        .startsWith("1victim", "1heir", "2heir")
        .hasSize(11);
    assertThat(database.count("select count(distinct id) from effect")).isEqualTo(10);
  }

  @Test
  @Tag("PO-13")
  @Tag("EN-7")
  void frozenForLongerThanTheirLeaseTheyAreRefused() throws Exception {
    send(10);
    try (RelayProcess sleeper = RelayProcess.start(database.jdbcUrl(), "sleeper")) {
      try (Connection gate = closeGate()) {
        ledger.untilEffects(1);
        sleeper.freeze();
      }
      try (Relay heir = RelayMain.relay(dataSource(), "heir").start()) {
        ledger.untilEmpty();
      }
      assertThat(attempts("CONFLICT")).isZero();
      sleeper.thaw();
      await().atMost(Duration.ofSeconds(30)).until(() -> attempts("CONFLICT") > 0);
    }
    assertThat(database.column("select sequence || relay from effect order by no"))
        .startsWith("1sleeper", "1heir", "2heir")
        .filteredOn(effect -> effect.endsWith("sleeper"))
        .as("sent by the sleeper, before and after")
        .containsExactly("1sleeper");
    assertThat(
            database.count(
                "select count(*) from postrider.message_state where state = 'delivered'"))
        .isEqualTo(10);
  }
}
