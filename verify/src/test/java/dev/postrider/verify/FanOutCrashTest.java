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
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A relay process that is killed at a given step of the fan-out; another one goes on. Locks hold
 * the first one where it is.
 */
@Tag("EN-23")
@Timeout(180)
class FanOutCrashTest {
  private static final int MESSAGES = 30;
  private static final String FANNED_OUT = "select count(*) from postrider.queue where route > 0";

  @AutoClose private final TestPostgres database = TestPostgres.startDurable();
  private final Ledger ledger = new Ledger(database);

  @BeforeEach
  void create() throws Exception {
    database.execute(Effects.TABLE + ";" + Producers.TABLE);
    for (String name : new String[] {"copy", "other"}) {
      database.execute(
          "select postrider.subscription_add('ann', 'shop', 'orders', '" + name + "')");
    }
    try (Connection connection = dataSource().getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < MESSAGES; i++) {
        NewMessage.Builder message = NewMessage.to("shop", "orders").json("{}");
        new Outbox().enqueue(connection, (i % 3 == 0 ? message : message.key("k" + i % 3)).build());
      }
      connection.commit();
    }
  }

  private PGSimpleDataSource dataSource() {
    return (PGSimpleDataSource) database.dataSource();
  }

  private RelayProcess victim() {
    return RelayProcess.start(database.jdbcUrl(), "victim", "copy", "other");
  }

  private Connection holding(String statement) throws Exception {
    Connection connection = dataSource().getConnection();
    connection.setAutoCommit(false);
    try (Statement lock = connection.createStatement()) {
      lock.execute(statement);
    }
    return connection;
  }

  private void untilOneWaits(String query) {
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () ->
                database.count(
                        "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                            + " and query like '%"
                            + query
                            + "%'")
                    > 0);
  }

  /** Nothing is lost, and what was not in flight is there once. */
  private void anotherOneServesAll(int doubledAtMost) {
    try (Relay heir = RelayMain.relay(dataSource(), "heir", "copy", "other").start()) {
      ledger.untilEmpty();
      assertThat(heir.status().running()).isTrue();
    }
    for (String name : new String[] {"", "copy", "other"}) {
      ledger.assertComplete(name);
    }
    assertThat(ledger.outOfOrder()).isEmpty();
    assertThat(ledger.effects()).isBetween(3L * MESSAGES, 3L * MESSAGES + doubledAtMost);
  }

  @Test
  void beforeItsCommitWhichIsThenUndone() throws Exception {
    try (Connection lock = holding("lock table postrider.queue in share mode");
        RelayProcess victim = victim()) {
      untilOneWaits("postrider.fan_out");
      victim.kill();
      database.execute(
          "select pg_terminate_backend(pid) from pg_stat_activity"
              + " where query like '%postrider.fan_out%' and pid <> pg_backend_pid()");
      lock.rollback();
    }
    assertThat(database.count(FANNED_OUT)).as("nothing of it is left").isZero();
    anotherOneServesAll(0);
  }

  @Test
  void beforeItsCommitWhichTheServerStillDoes() throws Exception {
    try (Connection lock = holding("lock table postrider.queue in share mode");
        RelayProcess victim = victim()) {
      untilOneWaits("postrider.fan_out");
      victim.kill();
      lock.rollback();
    }
    anotherOneServesAll(0);
  }

  @Test
  void afterItsCommitBeforeAClaim() throws Exception {
    try (Connection lock = holding("lock table postrider.claim_lock in share row exclusive mode");
        RelayProcess victim = victim()) {
      await().atMost(Duration.ofMinutes(1)).until(() -> database.count(FANNED_OUT) > 0);
      victim.kill();
      database.execute(
          "select pg_terminate_backend(pid) from pg_stat_activity"
              + " where wait_event_type = 'Lock' and pid <> pg_backend_pid()");
      lock.rollback();
    }
    assertThat(database.count("select count(*) from postrider.attempt")).isZero();
    anotherOneServesAll(0);
  }

  @Test
  void inTheMiddleOfDeliveries() throws Exception {
    try (Connection gate = dataSource().getConnection();
        Statement statement = gate.createStatement()) {
      statement.execute("select pg_advisory_lock(" + Effects.GATE + ")");
      try (RelayProcess victim = victim()) {
        ledger.untilEffects(3); // the effects are there, the answers are not
        victim.kill();
      }
    }
    long before = ledger.effects();
    anotherOneServesAll((int) before);
    assertThat(
            database.column(
                """
                select e.id || e.subscription from effect e group by e.id, e.subscription
                having count(*) > 1 and not exists (
                  select from postrider.attempt_history a
                   where a.message_id = e.id and a.subscription = e.subscription
                     and a.state = 'ZOMBIE_REQUEUE')
                """))
        .as("doubled, although it was not in flight")
        .isEmpty();
  }

  /** A fan-out does not wait for the disk: the last ones are undone, and done again. */
  @Test
  void theServerIsKilledAfterIt() throws Exception {
    database.execute("select postrider.fan_out(array(select id from postrider.route), 1000, '{}')");
    database.server().kill();
    database.server().restart();
    assertThat(database.count("select count(*) from postrider.message")).isEqualTo(MESSAGES);
    anotherOneServesAll(0);
  }
}
