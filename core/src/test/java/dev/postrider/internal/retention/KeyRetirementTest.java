package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.awaitility.Awaitility.await;

import dev.postrider.internal.retention.Keys.Way;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Idle keys are removed; one that comes back continues above every number it ever had. */
@Tag("OP-8")
@Timeout(60)
class KeyRetirementTest {
  private final Keys keys = new Keys(version());

  int version() {
    return TestDatabase.NEWEST;
  }

  @ParameterizedTest
  @EnumSource
  void aKeyThatComesBackContinuesAbove(Way way) throws Exception {
    keys.send("a", 3);
    keys.send("b", 200);
    keys.forgetMessages();
    assertThat(keys.retire()).isEqualTo(2);
    assertThat(keys.known()).isEmpty();

    assertThat(keys.send(way, "a")).isEqualTo(201);
    for (long next = 202; next < 400; next++) {
      assertThat(keys.send(way, "a")).isEqualTo(next);
    }
    keys.forgetMessages();
    assertThat(keys.retire()).isEqualTo(1);
    assertThat(keys.send(way, "b")).isEqualTo(400);
    assertThat(keys.database.count("select last_sequence from postrider.key_floor")).isEqualTo(399);
  }

  @Test
  void aKeyThatIsInUseStays() {
    for (String key : new String[] {"queued", "dead", "logged", "recent", "free"}) {
      keys.send(key, 1);
    }
    keys.database.execute(
        """
        delete from postrider.queue where key_id <> (
          select id from postrider.ordering_key where key = 'queued');
        delete from postrider.message where ordering_key in ('recent', 'free');
        insert into postrider.dead_letter (message_id, delivery, route, key_id, sequence, attempts, died_at)
          select id, 1, route, key_id, sequence, 1, now() from postrider.message where ordering_key = 'dead';
        update postrider.ordering_key set used_at = now() - interval '2 h' where key <> 'recent'
        """);
    assertThat(
            keys.database.count(
                "select removed from postrider.retire_keys(interval '1 hour', 1000, null)"))
        .isEqualTo(1);
    assertThat(keys.known()).containsExactly("dead", "logged", "queued", "recent");
  }

  @Test
  void theWalkGoesOnWhereItEndedAndTakesEachKeyOnce() {
    keys.database.execute(
        """
        insert into postrider.ordering_key (namespace, key, last_sequence, used_at)
        select 'n' || i % 3, 'k' || i, 1, now() - interval '1 h' from generate_series(1, 250) i;
        insert into postrider.ordering_key (id, namespace, key, generation, last_sequence, used_at)
        select id, namespace, key, 1, 64, now() - interval '1 h' from postrider.ordering_key where id % 2 = 0
        """);
    String position = "null";
    int steps = 0;
    long removed = 0;
    boolean done = false;
    while (!done) {
      String step =
          keys.database.value(
              "select removed || '|' || done || '|' || coalesce(p_position, '')"
                  + " from postrider.retire_keys('0', 40, "
                  + position
                  + ")");
      String[] parts = step.split("\\|", 3);
      removed += Long.parseLong(parts[0]);
      done = parts[1].equals("true");
      position = "'" + parts[2] + "'";
      steps++;
    }
    assertThat(removed).isEqualTo(250);
    assertThat(steps).isEqualTo(7);
    assertThat(keys.known()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void aProducerThatWaitsForTheRemovalContinuesAbove(Way way) throws Exception {
    keys.send("a", 70);
    keys.forgetMessages();
    try (Connection retiring = keys.database.transaction()) {
      assertThat(Keys.retire(retiring)).isEqualTo(1);
      CompletableFuture<Long> sent = CompletableFuture.supplyAsync(() -> sendNow(way, "a"));
      await().until(this::somebodyWaits);
      retiring.commit();
      assertThat(sent.get()).isEqualTo(71);
    }
  }

  private boolean somebodyWaits() {
    return keys.database.count(
            "select count(*) from pg_stat_activity"
                + " where datname = current_database() and wait_event_type = 'Lock'")
        > 0;
  }

  private long sendNow(Way way, String key) {
    try {
      return keys.send(way, key);
    } catch (SQLException e) {
      throw new CompletionException(e);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRemovalThatIsRolledBackChangesNothing(Way way) throws Exception {
    keys.send("a", 5);
    keys.forgetMessages();
    try (Connection retiring = keys.database.transaction()) {
      assertThat(Keys.retire(retiring)).isEqualTo(1);
      retiring.rollback();
    }
    assertThat(keys.send(way, "a")).isEqualTo(6);
  }

  @ParameterizedTest
  @EnumSource
  void aKeyThatAProducerWorksOnIsLeftAlone(Way way) throws Exception {
    keys.send("a", 63);
    keys.forgetMessages();
    try (Connection producer = keys.database.transaction()) {
      keys.send(producer, way, "a");
      assertThat(keys.retire()).isZero();
      keys.send(producer, way, "a");
      producer.commit();
    }
    assertThat(keys.retire()).as("its messages are in the log").isZero();
    assertThat(keys.send(way, "a")).isEqualTo(66);
  }

  /** Sees neither the removal nor its floor with its snapshot. */
  @ParameterizedTest
  @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
  void aProducerWithAnOldSnapshotIsRefusedOrContinuesAbove(int isolation) throws Exception {
    for (Way way : Way.values()) {
      String key = "seen" + way;
      String unseen = "unseen" + way;
      long last = keys.send(way, key);
      keys.forgetMessages();
      try (Connection late = keys.database.transaction()) {
        late.setTransactionIsolation(isolation);
        try (Statement statement = late.createStatement()) {
          statement.execute("select count(*) from pg_class");
        }
        keys.send(unseen, 10);
        long unseenLast = last + 10;
        keys.forgetMessages();
        assertThat(keys.retire()).isPositive();
        keys.assertRetired(key, unseen);

        assertThat(keys.send(late, way, unseen))
            .as("%s, made and gone", way)
            .isGreaterThan(unseenLast - last);
        if (isolation == Connection.TRANSACTION_REPEATABLE_READ) {
          assertThatThrownBy(() -> keys.send(late, way, key))
              .asInstanceOf(type(SQLException.class))
              .extracting(SQLException::getSQLState)
              .isEqualTo("40001");
          late.rollback();
        }
        assertThat(keys.send(late, way, key)).isGreaterThan(last);
        late.commit();
      }
      keys.forgetMessages();
      keys.retire();
    }
  }
}
