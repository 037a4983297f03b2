package dev.postrider.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.error.RefusedException;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplayTest {
  private TestDatabase database = TestDatabase.create();
  private Courier courier = new Courier(database);
  private Replay replay = new Replay(database.dataSource(), Schema.DEFAULT);

  @ParameterizedTest
  @ValueSource(ints = {TestDatabase.OLDEST, TestDatabase.NEWEST})
  @Tag("HE-10")
  @Tag("EN-6")
  void replayedMessagesKeepTheirIdAndAreMarked(int version) throws Exception {
    database = TestDatabase.create(version);
    courier = new Courier(database);
    replay = new Replay(database.dataSource(), Schema.DEFAULT);
    UUID id = courier.enqueue("'hr', 'events', aggregate_type => 'invoice', aggregate_id => '7'");
    courier.enqueue("'hr', 'events'");
    courier.deliver();

    ReplayJob job = replayAll(ReplayFilter.aggregateType("invoice"));

    assertThat(job.state()).isEqualTo(ReplayJob.State.DONE);
    assertThat(job.requeued()).isEqualTo(1);
    assertThat(courier.state(id)).isEqualTo("pending 2.0");
    assertThat(courier.deliver()).containsExactly(id);
    assertThat(courier.state(id)).isEqualTo("delivered 2.1");
    assertThat(database.column("select action from postrider.audit order by id"))
        .containsExactly("replay.start", "replay.done");
  }

  @Test
  @Tag("EN-12")
  void replayedHeadersCountWithTheirRealSize() throws Exception {
    courier.enqueue(
        "'hr', 'events', headers => jsonb_build_object('a', repeat('x', 4000), 'b', repeat('y', 4000))");
    courier.deliver();
    replayAll(ReplayFilter.namespace("hr"));
    assertThat(database.count("select size from postrider.queue")).isGreaterThan(8000);
  }

  @Test
  @Tag("HE-10")
  void everyConditionNarrowsIt() throws Exception {
    UUID id =
        courier.enqueue(
            "'hr', 'events', key => 'k', tenant => 't', aggregate_type => 'a', aggregate_id => '1',"
                + " event_type => 'e'");
    courier.enqueue("'hr', 'other', key => 'l', tenant => 'u', aggregate_type => 'b'");
    courier.enqueue("'crm', 'third', key => 'k'");
    courier.deliver();
    for (ReplayFilter filter :
        List.of(
            ReplayFilter.ids(List.of(id)),
            ReplayFilter.key("hr", "k"),
            ReplayFilter.tenant("t"),
            ReplayFilter.aggregateType("a"),
            ReplayFilter.aggregate("a", "1"),
            ReplayFilter.namespace("hr").topic("events"),
            ReplayFilter.of(Map.of("event_type", "e")))) {
      assertThat(replay.count(filter, n -> {})).as("%s", filter).isEqualTo(new ReplayCount(1, 0));
      replayAll(filter);
      assertThat(courier.deliver()).as("%s", filter).containsExactly(id);
    }
    assertThat(replay.count(ReplayFilter.key("hr", "nobody"), n -> {}).matched()).isZero();
  }

  @Test
  @Tag("HE-10")
  void theTimeRangeIncludesItsStartAndNotItsEnd() throws Exception {
    UUID id = courier.enqueue("'hr', 'events'");
    courier.deliver();
    long millis =
        database.count(
            "select (extract(epoch from postrider.id_time('" + id + "')) * 1000)::bigint");
    Instant at = Instant.ofEpochMilli(millis);
    assertThat(matched(at, at.plusMillis(1))).isEqualTo(1);
    assertThat(matched(at.minusMillis(1), at)).isZero();
    assertThat(matched(at.plusMillis(1), at.plusSeconds(9))).isZero();
  }

  private long matched(Instant from, Instant to) throws SQLException {
    return replay.count(ReplayFilter.between(from, to), n -> {}).matched();
  }

  @Test
  @Tag("HE-10")
  void whatIsNotDeliveredIsSkippedAndCounted() throws Exception {
    courier.enqueue("'hr', 'events'");
    courier.deliver();
    courier.enqueue("'hr', 'events'");
    courier.kill("boom");
    courier.enqueue("'hr', 'events', key => 'blocked'");
    courier.block("boom");
    courier.enqueue("'hr', 'events'");

    assertThat(replay.count(ReplayFilter.namespace("hr"), n -> {}))
        .isEqualTo(new ReplayCount(4, 3));
    assertThat(database.count("select count(*) from postrider.queue")).isEqualTo(2);

    ReplayJob job = replayAll(ReplayFilter.namespace("hr"));
    assertThat(List.of(job.matched(), job.requeued(), job.skipped())).containsExactly(4L, 1L, 3L);
  }

  @Test
  @Tag("HE-10")
  void aKeyIsReplayedInOrderAndBeforeItsNewerMessages() throws Exception {
    List<UUID> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      ids.add(courier.enqueue("'bank', 'payments', key => 'acc'"));
    }
    courier.deliver();
    UUID newer = courier.enqueue("'bank', 'payments', key => 'acc'");
    replayAll(ReplayFilter.key("bank", "acc"));
    ids.add(newer);
    assertThat(courier.deliver()).isEqualTo(ids);
  }

  @Test
  @Tag("HE-10")
  void orderHoldsWhereIdsAreNotInTheOrderOfTheKey() throws Exception {
    List<UUID> bySequence = new ArrayList<>();
    for (int minute : List.of(30, 40, 10, 50, 20)) {
      bySequence.add(courier.enqueue("'bank', 'payments', key => 'acc', id => " + idOf(minute)));
      courier.enqueue("'bank', 'payments', id => " + idOf(minute));
    }
    courier.deliver();
    ReplayJob job = replay.start("ann", ReplayFilter.namespace("bank").topic("payments"));
    List<UUID> order = new ArrayList<>();
    ReplayJob done =
        replay.run(
            "ann",
            job.id(),
            new Pacer(4, () -> 0, time -> {}),
            step -> {
              order.addAll(courier.deliver());
              return true;
            });
    order.retainAll(bySequence);
    assertThat(order).isEqualTo(bySequence);
    assertThat(done.requeued()).isEqualTo(10);
    assertThat(done.skipped()).isZero();
  }

  private String idOf(int minute) {
    String floor =
        database.value("select postrider.id_floor(now() - interval '" + minute + " minutes')");
    return "'" + floor.substring(0, 14) + "7" + UUID.randomUUID().toString().substring(15) + "'";
  }

  /** A slow one may take days, and the pool of a server is small. */
  @Test
  @Tag("HE-10")
  void aReplayThatWaitsHoldsNoConnection() throws Exception {
    enqueueMany(25);
    String sessions =
        "select count(*) from pg_stat_activity where datname = current_database()"
            + " and pid <> pg_backend_pid() and query like '%replay_step%'";
    List<Duration> waits = new ArrayList<>();
    Pacer pacer =
        new Pacer(
            20,
            () -> 0,
            time -> {
              await().until(() -> database.count(sessions) == 0);
              waits.add(time);
            });
    ReplayJob job = replay.start("ann", ReplayFilter.namespace("hr"));
    replay.run("ann", job.id(), pacer, step -> true);
    assertThat(waits).hasSize(2);
  }

  @Test
  @Tag("HE-10")
  void aReplayKeepsToItsRateAndReportsProgress() throws Exception {
    enqueueMany(25);
    AtomicLong clock = new AtomicLong();
    List<Long> progress = new ArrayList<>();
    Pacer pacer = new Pacer(20, clock::get, time -> clock.addAndGet(time.toNanos()));
    ReplayJob job = replay.start("ann", ReplayFilter.namespace("hr"));

    replay.run("ann", job.id(), pacer, step -> progress.add(step.requeued()));

    assertThat(progress).containsExactly(10L, 20L, 25L);
    assertThat(Duration.ofNanos(clock.get())).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  @Tag("HE-10")
  void aStoppedReplayGoesOnWhereItWas() throws Exception {
    enqueueMany(25);
    ReplayJob job = replay.start("ann", ReplayFilter.namespace("hr"));
    ReplayJob stopped = replay.run("ann", job.id(), slow(), step -> false);
    assertThat(stopped.state()).isEqualTo(ReplayJob.State.STOPPED);
    assertThat(stopped.requeued()).isEqualTo(10);
    assertThat(courier.deliver()).hasSize(10);
    assertThat(replay.run("ann", job.id(), slow(), step -> true).requeued()).isEqualTo(10);

    replay.resume("bob", job.id());
    ReplayJob done = replay.run("bob", job.id(), slow(), step -> true);

    assertThat(done.state()).isEqualTo(ReplayJob.State.DONE);
    assertThat(List.of(done.requeued(), done.skipped())).containsExactly(25L, 0L);
    assertThat(courier.deliver()).hasSize(15);
  }

  @Test
  @Tag("HE-10")
  void aReplayThatDiedGoesOnWhereItWas() throws Exception {
    enqueueMany(25);
    ReplayJob job = replay.start("ann", ReplayFilter.namespace("hr"));
    assertThatThrownBy(
            () ->
                replay.run(
                    "ann",
                    job.id(),
                    slow(),
                    step -> {
                      throw new IllegalStateException("killed");
                    }))
        .hasMessage("killed");
    courier.deliver();

    Replay other = new Replay(database.dataSource(), Schema.DEFAULT);
    ReplayJob done = other.run("bob", job.id(), slow(), step -> true);

    assertThat(List.of(done.requeued(), done.skipped())).containsExactly(25L, 0L);
    assertThat(courier.deliver()).hasSize(15);
  }

  @Test
  @Tag("HE-10")
  void anotherProcessCanStopIt() throws Exception {
    enqueueMany(25);
    ReplayJob job = replay.start("ann", ReplayFilter.namespace("hr"));
    ReplayJob last =
        replay.run(
            "ann",
            job.id(),
            slow(),
            step -> {
              database.execute("select postrider.replay_set_state('bob', " + job.id() + ", false)");
              return true;
            });
    assertThat(last.state()).isEqualTo(ReplayJob.State.STOPPED);
    assertThat(last.requeued()).isEqualTo(10);
  }

  @Test
  @Tag("HE-10")
  void aReplayOfEverythingIsRefused() {
    assertThatThrownBy(() -> replay.start("ann", ReplayFilter.of(Map.of())))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("at least one condition");
    assertThatThrownBy(() -> replay.run("ann", 99, slow(), step -> true))
        .hasMessageContaining("no replay job 99");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"tenant\": \"t7\"}",
        "{\"aggregate_type\": \"a\", \"aggregate_id\": \"7\"}",
        "{\"namespace\": \"hr\", \"key\": \"k7\"}",
        "{\"from\": \"2000-01-01\", \"to\": \"2000-01-02\", \"aggregate_type\": \"a\"}"
      })
  @Tag("HE-10")
  void aPageIsReadByIndex(String filter) throws Exception {
    database.execute(
        """
        insert into postrider.ordering_key (namespace, key, last_sequence)
        select 'hr', 'k' || i, 10 from generate_series(1, 1000) i;
        insert into postrider.message
          (id, created_at, key_id, sequence, route, tenant, aggregate_type, aggregate_id, payload)
        select postrider.new_id(), now(), 1 + i % 1000, i / 1000, 1, 't' || i % 1000, 'a', i % 1000, ''
          from generate_series(1, 20000) i;
        insert into postrider.route (namespace, topic) values ('hr', 'events');
        analyze;
        """);
    try (Connection connection = database.transaction();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "select postrider.replay_count('" + filter + "', null, null, null, null, 0)");
      assertThat(rowsFetched(statement)).isLessThan(200);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {TestDatabase.OLDEST, TestDatabase.NEWEST})
  @Tag("HE-10")
  void aStepReadsLittleMoreThanItsPage(int version) throws Exception {
    database = TestDatabase.create(version);
    database.execute(
        """
        insert into postrider.message (id, created_at, key_id, sequence, route, payload)
        select overlay(postrider.id_floor(now() - interval '1 hour')::text
                 placing '7000-8000-' || lpad(to_hex(i), 12, '0') from 15)::uuid,
               now(), 1 + i % 1000, i / 1000, 1, ''
          from generate_series(1, 40000) i;
        insert into postrider.route (namespace, topic) values ('hr', 'events');
        analyze;
        select postrider.replay_start('ann', '{"namespace": "hr"}', null);
        """);
    try (Connection connection = database.transaction();
        Statement statement = connection.createStatement()) {
      statement.execute("select postrider.replay_step(1, 500)");
      assertThat(rowsFetched(statement)).isLessThan(5000 + 15 * 500);
    }
  }

  private static long rowsFetched(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery(
            """
            select sum(seq_scan), sum(idx_tup_fetch) from pg_stat_xact_all_tables
             where relname ~ '^(message|attempt|queue|dead_letter)'
            """)) {
      row.next();
      assertThat(row.getLong(1)).as("sequential scans").isZero();
      return row.getLong(2);
    }
  }

  private static Pacer slow() {
    return new Pacer(20, () -> 0, time -> {});
  }

  private ReplayJob replayAll(ReplayFilter filter) throws SQLException {
    ReplayJob job = replay.start("ann", filter);
    return replay.run("ann", job.id(), Pacer.unlimited(), step -> true);
  }

  private void enqueueMany(int count) {
    database.execute(
        "select postrider.enqueue('hr', 'events', '{}') from generate_series(1, " + count + ")");
    courier.deliver();
  }
}
