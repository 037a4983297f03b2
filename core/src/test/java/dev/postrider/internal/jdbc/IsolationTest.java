package dev.postrider.internal.jdbc;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static dev.postrider.testing.Postbox.ids;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.awaitility.Awaitility.await;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.archive.Archive;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.replay.ReplayJob;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Postbox;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever isolation level is the default: what needs READ COMMITTED has it, or refuses. */
@Tag("EN-22")
@Timeout(60)
class IsolationTest {
  private static final String STATE =
      """
      select (select array_agg(q order by q.id)::text from postrider.queue q)
        || (select array_agg(l)::text from postrider.lease l)
        || (select count(*) from postrider.attempt)
        || (select array_agg(d)::text from postrider.dead_letter d)
        || (select array_agg(j)::text from postrider.replay_job j)
        || (select count(*) from postrider.message) || (select count(*) from postrider.audit)
        || (select array_agg(r order by r.id)::text from postrider.route r)
        || (select array_agg(r order by r.task)::text from postrider.retention r)
        || (select array_agg(r)::text from postrider.retention_run r)
      """;

  private final Postbox post = new Postbox(18);
  private final LeaseStore ann = post.worker("ann");
  private final DeadLetters dead = new DeadLetters(post.database.dataSource(), Schema.DEFAULT);
  private final Replay replay = new Replay(post.database.dataSource(), Schema.DEFAULT);

  private void makeDefault(String isolation) {
    String name = post.database.value("select current_database()");
    post.database.execute(
        "alter database %s set default_transaction_isolation = '%s'".formatted(name, isolation));
  }

  @ParameterizedTest
  @ValueSource(strings = {"repeatable read", "serializable"})
  void everythingWorksWhereAnotherLevelIsTheDefault(String isolation, @TempDir Path directory)
      throws Exception {
    makeDefault(isolation);
    List<UUID> sent = post.send(4, "orders", null);
    assertThat(ids(ann.claim(NAMESPACE, 4, MINUTE))).isEqualTo(sent);
    assertThat(ann.renewLease(sent.get(0), MINUTE)).isTrue();
    assertThat(ann.ack(sent.get(0))).isTrue();
    assertThat(ann.markDead(sent.get(1), "e")).isTrue();
    assertThat(ann.markDead(sent.get(2), "e")).isTrue();
    assertThat(ann.release(List.of(sent.get(3)))).isEmpty();
    assertThat(dead.requeue("ann", sent.get(1))).isTrue();
    assertThat(dead.discard("ann", "why", sent.get(2))).isTrue();
    ReplayJob job = replay.start("ann", ReplayFilter.ids(List.of(sent.get(0))));
    assertThat(replay.run("ann", job.id(), Pacer.unlimited(), step -> true).requeued())
        .isEqualTo(1);
    ArchiveConfig config = new ArchiveConfig(Duration.ofDays(30), 100);
    assertThat(
            new Archive(
                    post.database.dataSource(),
                    Schema.DEFAULT,
                    config,
                    new DirectoryStorage(directory))
                .run("ann", report -> true)
                .removed())
        .isZero();
    assertThat(sent)
        .extracting(post::state)
        .containsExactly("pending", "pending", "dead", "pending");
    deliverByARelay();
    assertThat(sent)
        .extracting(post::state)
        .containsExactly("delivered", "delivered", "dead", "delivered");
  }

  private void deliverByARelay() {
    try (Relay relay =
        Relay.builder(post.database.dataSource())
            .destination("here", HandlerDestination.inline(message -> Outcome.delivered()))
            .route(NAMESPACE, "*", "here")
            .build()
            .start()) {
      await().until(() -> post.database.count("select count(*) from postrider.queue") == 0);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "postrider.claim(1, 10, 1000, 60000, '{1}')",
        "postrider.claim_from(1, 10, 1000, 60000, '{1}')",
        "postrider.settle(1, array(select id from postrider.queue), array(select lease from"
            + " postrider.queue), array[1, 1]::smallint[])",
        "postrider.settle_held(1, array(select id from postrider.queue), 1::smallint)",
        "postrider.renew_held(1, (select id from postrider.queue where lease is not null), 1)",
        "postrider.forget_leases(1, '{}')",
        "postrider.reap()",
        "postrider.replay_step(1, 10)",
        "postrider.requeue_dead('ann', '{}', null, 10)",
        "postrider.discard_dead('ann', 'why', '{}', null, 10)",
        "postrider.archive_drop('ann', 'message_default', postrider.new_id(), 0)",
        "postrider.archive_drop_attempts('ann', 'attempt_default', postrider.new_id())",
        "postrider.stream_append(array(select id from postrider.queue), array[1, 1]::smallint[])",
        "postrider.archive_remove('file', array(select id from postrider.message))",
        "postrider.fan_out(array(select id from postrider.route), 10, '{}')",
        "postrider.subscription_add('ann', 'shop', 'orders', 'added')",
        "postrider.subscription_add('ann', 'shop', 'orders', 'mail')",
        "postrider.subscription_add_from('ann', 'shop', 'orders', 'added', '2000-01-01', null)",
        "postrider.subscription_remove('ann', 'shop', 'orders', 'mail')",
        "postrider.subscription_discard('ann', 'why', 'shop', 'orders', 'gone', 10)",
        "postrider.purge('ann', 'messages', interval '1 day', 10, null, null)",
        "postrider.purge('ann', 'ordering_keys', interval '1 day', 10, null, null)",
        "postrider.retention_hold('ann', interval '1 h')",
        "postrider.retention_next('ann', interval '1 h', '{audit}', array[interval '1 d'], false)",
        "postrider.retention_step('ann', interval '1 h', 'audit', interval '1 d', 10)",
        "postrider.retention_skip('ann', 'audit', 'e')",
        "postrider.retention_end('ann', 'audit', 1, 'e', false)"
      })
  void theFunctionsRefuseAnotherLevelAndChangeNothing(String call) throws Exception {
    oneOfEach();
    String before = post.database.value(STATE);
    for (String level : List.of("repeatable read", "serializable")) {
      try (Connection connection = post.database.transaction();
          Statement statement = connection.createStatement()) {
        statement.execute("set transaction isolation level " + level);
        assertThatThrownBy(() -> statement.execute("select " + call))
            .hasMessageContaining("READ COMMITTED only")
            .asInstanceOf(type(SQLException.class))
            .extracting(SQLException::getSQLState)
            .isEqualTo("PR003");
        connection.commit();
      }
    }
    assertThat(post.database.value(STATE)).isEqualTo(before).isNotNull();
  }

  /** Something for each function to do. */
  private void oneOfEach() throws SQLException {
    List<UUID> sent = post.send(3, "orders", null);
    ann.claim(NAMESPACE, 3, MINUTE);
    ann.ack(sent.get(0));
    ann.markDead(sent.get(1), "e");
    post.lapse();
    post.send("orders");
    replay.start("ann", ReplayFilter.ids(sent.subList(0, 1)));
    post.database.execute(
        """
        select postrider.subscription_add('ann', 'shop', 'orders', 'mail');
        select postrider.subscription_add('ann', 'shop', 'orders', 'gone');
        select postrider.enqueue('shop', 'orders', '{}');
        select postrider.subscription_remove('ann', 'shop', 'orders', 'gone');
        select postrider.enqueue('shop', 'orders', '{}');
        select postrider.retention_next('ann', interval '1 h', '{audit}', array[interval '1 d'], false)
        """);
  }
}
