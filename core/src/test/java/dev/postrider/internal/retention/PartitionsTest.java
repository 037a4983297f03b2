package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.message.PostriderException;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PartitionsTest {
  private final TestDatabase database = TestDatabase.create();
  private final Partitions partitions = new Partitions(Schema.DEFAULT);

  @Test
  @Tag("EN-7")
  void enqueueWorksWithoutAnyPartition() throws Exception {
    enqueue(database);
    assertThat(tablesOf("message")).containsExactly("message_default");
    assertThat(ensure(2))
        .hasSize(6)
        .contains("message_" + day(0), "message_" + day(2), "attempt_" + day(0));
    enqueue(database);
    assertThat(tablesOf("message")).containsExactly("message_" + day(0));
    assertThat(database.count("select count(*) from postrider.message")).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {TestDatabase.OLDEST, TestDatabase.NEWEST})
  @Tag("EN-15")
  void rowsLandInTheirDay(int version) throws Exception {
    TestDatabase other = TestDatabase.create(version);
    try (Connection connection = other.dataSource().getConnection()) {
      partitions.ensure(connection, 1);
    }
    enqueue(other);
    deliver(other);
    assertThat(
            other.column(
                """
                select tableoid::regclass::text from postrider.message
                union all select tableoid::regclass::text from postrider.attempt order by 1
                """))
        .isEqualTo(
            other.column(
                """
                select 'postrider.' || p || to_char(now() at time zone 'UTC', '_YYYYMMDD')
                  from unnest(array['attempt', 'message']) p
                """));
    assertThat(other.value("select state from postrider.message_state")).isEqualTo("delivered");
  }

  @Test
  void aSecondRunChangesNothingAndALaterOneAddsWhatIsNew() throws Exception {
    ensure(2);
    assertThat(ensure(2)).isEmpty();
    assertThat(ensure(3)).containsExactlyInAnyOrder("message_" + day(3), "attempt_" + day(3));
    assertThat(
            database.count(
                """
                select count(*) from postrider.partition p join postrider.partition q
                  on q.parent = p.parent and q.from_at = p.to_at
                """))
        .isEqualTo(6);
  }

  @Test
  void manyAtOnceMakeEachPartitionOnce() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(6);
    try {
      List<Future<List<String>>> runs =
          Stream.generate(() -> pool.submit(() -> ensure(3))).limit(6).toList();
      int made = 0;
      for (Future<List<String>> run : runs) {
        made += run.get().size();
      }
      assertThat(made).isEqualTo(8);
    } finally {
      pool.shutdown();
    }
  }

  @Test
  @Tag("EN-7")
  void enqueuesAndDeliveriesGoOnWhileTodayIsMovedOutOfTheDefault() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    CountDownLatch running = new CountDownLatch(3);
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try {
      List<Future<Integer>> producers =
          IntStream.range(0, 3).mapToObj(i -> pool.submit(() -> produce(done, running))).toList();
      Future<?> relay =
          pool.submit(
              () -> {
                while (!done.get()) {
                  deliver(database);
                }
              });
      running.await();
      while (database.count("select count(*) from postrider.partition where not is_default") < 6) {
        ensure(2);
      }
      done.set(true);
      relay.get();
      int sent = 0;
      for (Future<Integer> producer : producers) {
        sent += producer.get();
      }
      deliver(database);
      assertThat(database.count("select count(*) from postrider.message")).isEqualTo(sent);
      assertThat(
              database.count(
                  "select count(distinct message_id) from postrider.attempt where state = 1"))
          .isEqualTo(sent);
      assertThat(database.count("select count(*) from postrider.message_default")).isZero();
    } finally {
      done.set(true);
      pool.shutdown();
    }
  }

  @Test
  void daysToComeAreMadeWhileATransactionHoldsTodaysMessages() throws Exception {
    ensure(1);
    try (Connection producer = database.transaction()) {
      new Outbox().enqueue(producer, NewMessage.to("a", "b").json("{}").build());
      assertThat(ensure(2)).containsExactlyInAnyOrder("message_" + day(2), "attempt_" + day(2));
      producer.commit();
    }
  }

  @Test
  void aTableInUseIsLeftToTheNextCall() throws Exception {
    enqueue(database);
    try (Connection producer = database.transaction()) {
      new Outbox().enqueue(producer, NewMessage.to("a", "b").json("{}").build());
      assertThat(ensure(0)).containsExactly("attempt_" + day(0));
      enqueue(database);
      producer.commit();
    }
    assertThat(ensure(0)).containsExactly("message_" + day(0));
    assertThat(tablesOf("message")).containsExactly("message_" + day(0));
    assertThat(database.count("select count(*) from postrider.message")).isEqualTo(3);
  }

  @Test
  void aLargeDefaultIsRetiredAndTheDaysToComeAreMade() throws Exception {
    fillTheDefault(3);
    assertThat(ensure(1))
        .contains("message_" + day(0), "message_" + day(1))
        .doesNotHaveDuplicates()
        .hasSize(4);
    enqueue(database);
    assertThat(tablesOf("message")).containsExactly("message_" + day(0));
    assertThat(database.count("select count(*) from postrider.message")).isEqualTo(20001);
    assertThat(ensure(1)).isEmpty();
  }

  @Test
  void aLargeDefaultOfEarlierDaysIsRetiredBesideTheirPartitions() throws Exception {
    ensure(1);
    database.execute("drop table postrider.message_" + day(1) + ", postrider.attempt_" + day(1));
    fillTheDefault(3); // today's go to today's partition
    assertThat(ensure(1)).contains("message_" + day(-1), "message_" + day(1));
    assertThat(tablesOf("message"))
        .containsExactlyInAnyOrder("message_" + day(-1), "message_" + day(0));
    assertThat(database.count("select count(*) from postrider.message")).isEqualTo(20000);
  }

  @Test
  void aDefaultThatTakesLongToReadIsLeftToAnOperator() {
    fillTheDefault(3);
    assertThat(
            database.value(
                "select note from postrider.relieve_default('message', '1 microsecond')"))
        .contains("message_default has grown too large")
        .contains("select postrider.retire_default('message')");
    assertThat(tablesOf("message")).containsExactly("message_default");
    assertThat(database.value("select postrider.retire_default('message')"))
        .isEqualTo("message_" + day(0));
    assertThat(tablesOf("message")).containsExactly("message_" + day(0));
  }

  @Test
  void aLargeDefaultInUseIsLeftToTheNextCall() throws Exception {
    fillTheDefault(3);
    try (Connection producer = database.transaction()) {
      new Outbox().enqueue(producer, NewMessage.to("a", "b").json("{}").build());
      assertThat(ensure(0)).containsExactly("attempt_" + day(0));
      producer.commit();
    }
    assertThat(ensure(0)).containsExactly("message_" + day(0));
  }

  @Test
  void aDefaultOfWhichTooMuchWouldHaveToBeMovedIsLeftToAnOperator() throws Exception {
    // Rows of three days, the middle one of which has a partition.
    fillTheDefault(3);
    database.execute(
        """
        select postrider.retire_default('message');
        alter table postrider.message detach partition postrider.message_%1$s;
        create table postrider.message_middle partition of postrider.message
          for values from (%2$s) to (%3$s);
        with moved as (delete from postrider.message_%1$s returning *)
        insert into postrider.message select * from moved;
        drop table postrider.message_%1$s
        """
            .formatted(day(0), floor(-1), floor(0)));
    fillTheDefault(3);
    assertThat(
            database.column(
                "select note from postrider.ensure_partitions(0) where name like 'message%'"))
        .singleElement()
        .asString()
        .contains("more than 10000 rows from before partitions that exist")
        .contains("select postrider.retire_default('message')");
    database.execute("select postrider.retire_default('message')");
    assertThat(ensure(1)).contains("message_" + day(1));
    assertThat(database.count("select count(*) from postrider.message")).isEqualTo(40000);
  }

  /** A reader of both tables could otherwise be in a deadlock with it. */
  @Test
  @Tag("EN-16")
  void nobodyWaitsForTheOneTableWhileItWaitsForTheOther() throws Exception {
    String waits =
        """
        select count(*) from pg_locks
         where not granted and relation = 'postrider.attempt_default'::regclass
        """;
    String waitsAndHolds =
        """
        select count(*) from pg_locks w join pg_locks h on h.pid = w.pid and h.granted
         where not w.granted and w.relation = 'postrider.attempt_default'::regclass
           and h.relation in ('postrider.message'::regclass, 'postrider.message_default'::regclass)
        """;
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try (Connection reader = database.transaction()) {
      reader.createStatement().execute("select from postrider.attempt");
      Future<List<String>> made = executor.submit(() -> ensure(1));
      await().pollInterval(Duration.ofMillis(5)).until(() -> database.count(waits) > 0);
      assertThat(database.count(waitsAndHolds)).isZero();
      assertThat(made.get()).containsExactly("message_" + day(1), "message_" + day(0));
    } finally {
      executor.shutdown();
    }
  }

  private String floor(int ahead) {
    return database.value(
        "select quote_literal(postrider.id_floor(date_trunc('day', now(), 'UTC') + "
            + ahead
            + " * interval '1 day'))");
  }

  /** 20,000 messages, 20 MB, of so many days up to today. */
  private void fillTheDefault(int days) {
    database.execute(
        """
        insert into postrider.message (id, created_at, route, payload)
        select overlay(postrider.new_id()::text
                 placing left(postrider.id_floor(now() - n %% %d * interval '1 day')::text, 13)
                 from 1 for 13)::uuid, now(), 1,
               convert_to(repeat('x', 1500), 'UTF8')
          from generate_series(1, 20000) n
        """
            .formatted(days));
  }

  @Test
  void anImpossibleNumberOfDaysIsRefused() {
    assertThatThrownBy(() -> ensure(-1))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("between 0 and 366");
    assertThatThrownBy(() -> ensure(367)).isInstanceOf(PostriderException.class);
  }

  private int produce(AtomicBoolean done, CountDownLatch running) throws SQLException {
    int sent = 0;
    while (!done.get() || sent == 0) {
      enqueue(database);
      sent++;
      running.countDown();
    }
    return sent;
  }

  private static void enqueue(TestDatabase database) throws SQLException {
    try (Connection connection = database.transaction()) {
      new Outbox().enqueue(connection, NewMessage.to("a", "b").json("{}").build());
      connection.commit();
    }
  }

  private static void deliver(TestDatabase database) {
    database.execute(
        """
        with w as materialized (select postrider.worker_id('relay') as id),
        c as materialized (
          select c.*, w.id as worker from w, postrider.claim(
            w.id, 1000, 1000000000, 60000, array(select id from postrider.route)) c)
        select postrider.settle(min(worker), array_agg(id),
          array_agg(token), array_fill(1::smallint, array[count(*)::int])) from c having count(*) > 0
        """);
  }

  private List<String> ensure(int daysAhead) throws SQLException {
    try (Connection connection = database.dataSource().getConnection()) {
      return partitions.ensure(connection, daysAhead);
    }
  }

  private List<String> tablesOf(String parent) {
    return database.column(
        "select distinct c.relname from postrider."
            + parent
            + " t join pg_class c on c.oid = t.tableoid");
  }

  private String day(int ahead) {
    return database.value(
        "select to_char(now() at time zone 'UTC' + " + ahead + " * interval '1 day', 'YYYYMMDD')");
  }
}
