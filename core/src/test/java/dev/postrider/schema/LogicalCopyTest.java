package dev.postrider.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.embedded.EmbeddedServer;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Message;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A database that was moved by logical replication, which leaves sequences behind. */
class LogicalCopyTest {
  @Test
  @Tag("OP-8")
  void aCopyGoesOnWhereTheOriginalStopped() {
    try (EmbeddedServer server =
        EmbeddedServer.builder()
            .parameter("fsync", "off")
            .parameter("wal_level", "logical")
            .start()) {
      TestDatabase original = TestDatabase.on(server);
      TestDatabase copy = TestDatabase.on(server);
      Courier sender = new Courier(original);
      sender.enqueue("'shop', 'orders', key => 'a'");
      sender.enqueue("'shop', 'bills', key => 'b'");
      long token = claim(original).token();
      // A key that had 500 messages and is gone.
      original.execute(
          """
          insert into postrider.ordering_key (namespace, key, last_sequence, used_at)
          values ('shop', 'gone', 500, '-infinity');
          select postrider.retire_keys('1 day', 1000, null)
          """);

      replicate(original, server, copy);
      assertThat(behind(copy))
          .contains(
              "key_floor_now",
              "lease_token",
              "ordering_key_id_seq",
              "route_id_seq",
              "worker_id_seq");
      Courier receiver = new Courier(copy);
      assertThatThrownBy(() -> receiver.enqueue("'shop', 'orders', key => 'new'"))
          .rootCause()
          .hasMessageContaining("duplicate key");

      copy.execute("select postrider.advance_sequences('ann')");

      assertThat(behind(copy)).isEmpty();
      receiver.enqueue("'shop', 'new topic', key => 'new'");
      receiver.enqueue("'shop', 'new topic', key => 'gone'");
      assertThat(copy.count("select last_sequence from postrider.ordering_key where key = 'gone'"))
          .isEqualTo(501);
      copy.execute("update postrider.lease set until = now() - interval '1 s'");
      assertThat(claim(copy).token()).isGreaterThan(token);
      assertThat(copy.value("select action from postrider.audit")).isEqualTo("sequences.advance");
    }
  }

  @Test
  void everySequenceIsLookedAfter() {
    TestDatabase database = TestDatabase.create();
    // The doorbells are flags.
    assertThat(database.column("select name from postrider.sequence_places()"))
        .containsExactlyInAnyOrderElementsOf(
            database.column(
                """
                select relname from pg_class where relkind = 'S' and relname not like 'doorbell%'
                   and relnamespace = 'postrider'::regnamespace
                """));
    assertThat(behind(database)).isEmpty();
  }

  private static Message claim(TestDatabase database) {
    LeaseStore store = new LeaseStore(database.dataSource(), Schema.DEFAULT, "worker");
    return store.claim("shop", 1, Duration.ofMinutes(1)).get(0);
  }

  private static List<String> behind(TestDatabase database) {
    return database.column("select name from postrider.sequence_places() where place < needed");
  }

  /** The copy has the tables, as a dump of the schema makes them, and gets their rows. */
  private static void replicate(TestDatabase original, EmbeddedServer server, TestDatabase copy) {
    copy.execute(
        """
        truncate postrider.engine, postrider.migration;
        select setval('postrider.lease_token', 1, false)
        """);
    original.execute(
        "create publication moving for all tables with (publish_via_partition_root = true)");
    // Made by hand, since both databases are on one server.
    original.execute("select pg_create_logical_replication_slot('moving', 'pgoutput')");
    copy.execute(
        """
        create subscription moving
          connection 'host=127.0.0.1 port=%d user=postgres dbname=%s passfile=%s'
          publication moving with (create_slot = false)
        """
            .formatted(
                server.port(), original.value("select current_database()"), server.passwordFile()));
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () ->
                copy.count("select count(*) from pg_subscription_rel") > 0
                    && copy.count(
                            "select count(*) from pg_subscription_rel where srsubstate <> 'r'")
                        == 0);
    copy.execute("alter subscription moving disable");
    copy.execute("alter subscription moving set (slot_name = none)");
    copy.execute("drop subscription moving");
  }
}
