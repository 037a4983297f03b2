package dev.postrider.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import dev.postrider.observe.Backlog.Topic;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BacklogTest {
  private static final String ROLLBACKS =
      "select xact_rollback from pg_stat_database where datname = current_database()";

  private TestDatabase database = TestDatabase.create();

  private void enqueue(String topic, int count, String more) {
    database.execute(
        "select postrider.enqueue('shop', '%s', '{}' %s) from generate_series(1, %d)"
            .formatted(topic, more, count));
  }

  /** Writes the tables themselves: enqueue would take too long for so many. */
  private void fill(String topic, int count) {
    enqueue(topic, 1, "");
    database.execute(
        """
        with r as (select id from postrider.route where topic = '%s'),
        m as (insert into postrider.message (id, created_at, route, payload)
              select postrider.new_id(), now(), r.id, '{}'
                from r, generate_series(2, %d) returning id, route)
        insert into postrider.queue (id, sequence, route, size, lane)
        select id, postrider.id_number(id), route, 2, 0 from m
        """
            .formatted(topic, count));
  }

  private Backlog read() throws Exception {
    try (Connection connection = database.dataSource().getConnection()) {
      return Backlog.read(connection);
    }
  }

  private Topic topic(Backlog backlog, String name) {
    return backlog.topics().stream()
        .filter(topic -> topic.route().equals(new Route("shop", name)))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void anEmptyDatabaseHasNoBacklog() throws Exception {
    Backlog backlog = read();
    assertThat(backlog.topics()).isEmpty();
    assertThat(backlog.pending() + backlog.dead() + backlog.processing()).isZero();
    assertThat(backlog.oldestAge()).isZero();
  }

  @Test
  @Tag("PO-11")
  @Tag("CH-8")
  void countsWhatIsPendingAndTellsTheOldestAge() throws Exception {
    enqueue("orders", 3, "");
    enqueue("orders", 2, ", key => 'k'");
    enqueue("bills", 1, "");
    database.execute(
        "update postrider.message set created_at = now() - interval '90 s' where sequence > 0");
    Backlog backlog = read();
    assertThat(backlog.pending()).isEqualTo(6);
    assertThat(topic(backlog, "orders").pending()).isEqualTo(5);
    assertThat(topic(backlog, "orders").oldestAge()).isBetween(secs(90), secs(120));
    assertThat(topic(backlog, "bills").oldestAge()).isLessThan(secs(30));
    assertThat(backlog.oldestAge()).isEqualTo(topic(backlog, "orders").oldestAge());
    assertThat(backlog.pendingEstimated()).isFalse();
  }

  @Test
  @Tag("PO-11")
  void aMessageInBackoffAgesAndAScheduledOneDoesNot() throws Exception {
    enqueue("later", 1, ", not_before => now() + interval '1 h'");
    enqueue("failing", 1, ", not_before => now() + interval '1 h'");
    database.execute("update postrider.message set created_at = now() - interval '90 s'");
    database.execute(
        """
        update postrider.queue set attempts = 1
         where route = (select id from postrider.route where topic = 'failing')
        """);
    database.execute(
        """
        update postrider.message set not_before = null
         where route = (select id from postrider.route where topic = 'failing')
        """);
    Backlog backlog = read();
    assertThat(backlog.pending()).isEqualTo(2);
    assertThat(topic(backlog, "later").oldestAge()).isZero();
    assertThat(topic(backlog, "failing").oldestAge()).isGreaterThan(secs(89));
  }

  @Test
  @Tag("PO-11")
  void claimedIsNotPendingAndALapsedLeaseIsStuck() throws Exception {
    enqueue("orders", 5, "");
    database.execute(
        """
        select postrider.claim(postrider.worker_id('w'), 2, 1000000, 60000,
          (select array_agg(id) from postrider.route))
        """);
    Backlog working = read();
    assertThat(working.pending()).isEqualTo(3);
    assertThat(working.processing()).isEqualTo(2);
    assertThat(working.stuck()).isZero();
    database.execute("update postrider.lease set until = now() - interval '1 s'");
    assertThat(read().stuck()).isEqualTo(2);
  }

  @Test
  @Tag("PO-11")
  void countsTheUnresolvedDeadAndTheKeysTheyBlock() throws Exception {
    enqueue("orders", 2, "");
    enqueue("orders", 1, ", key => 'k'");
    database.execute(
        """
        insert into postrider.dead_letter
          (message_id, delivery, route, key_id, attempts, blocking, died_at, resolved_at)
        select id, 1, route, key_id, 3, key_id is not null, now(),
               case when row_number() over (order by key_id nulls first, id) = 1 then now() end
          from postrider.message
        """);
    database.execute(
        """
        update postrider.queue set blocked = true, lane = -1 - lane, due_at = 'infinity'
         where key_id is not null
        """);
    Backlog backlog = read();
    assertThat(backlog.dead()).isEqualTo(2);
    assertThat(topic(backlog, "orders").dead()).isEqualTo(2);
    assertThat(backlog.blockedKeys()).isEqualTo(1);
    assertThat(backlog.pending()).isEqualTo(2);
  }

  @Test
  @Tag("PO-11")
  void saysWhetherMoreKeysAreBlockedThanItCounts() throws Exception {
    block(10_000);
    assertThat(read().blockedKeys()).isEqualTo(10_000);
    assertThat(read().blockedKeysAtLeast()).isFalse();
    block(1);
    assertThat(read().blockedKeys()).isEqualTo(10_000);
    assertThat(read().blockedKeysAtLeast()).isTrue();
  }

  private void block(int keys) {
    database.execute(
        """
        insert into postrider.dead_letter
          (message_id, delivery, route, key_id, attempts, blocking, died_at)
        select postrider.new_id(), 1, 1, n, 3, true, now() from generate_series(1, %d) n
        """
            .formatted(keys));
  }

  @ParameterizedTest
  @ValueSource(ints = {TestDatabase.OLDEST, TestDatabase.NEWEST})
  @Tag("PO-11")
  void aLongQueueIsEstimatedWithoutAScan(int version) throws Exception {
    database = TestDatabase.create(version);
    fill("big", 30_000);
    fill("medium", 10_000);
    fill("small", 500);
    database.execute("analyze postrider.queue");
    Backlog backlog = read();
    assertThat(backlog.pendingEstimated()).isTrue();
    assertThat(topic(backlog, "small").pending()).isEqualTo(500);
    assertThat(topic(backlog, "small").estimated()).isFalse();
    assertThat(topic(backlog, "big").pending()).isBetween(25_000L, 35_000L);
    assertThat(topic(backlog, "medium").pending()).isBetween(7_000L, 14_000L);
    assertThat(plans("select * from postrider.backlog(), postrider.dispatching()"))
        .contains("queue_walk")
        .doesNotContainPattern("Seq Scan on (queue|message|attempt|dead_letter)")
        .doesNotContain("Bitmap Heap Scan on queue");
  }

  @Test
  @Tag("PO-11")
  void aSingleLongTopicIsEstimatedToo() throws Exception {
    fill("big", 15_000);
    database.execute("analyze postrider.queue");
    assertThat(read().pending()).isBetween(13_000L, 17_000L);
  }

  @Test
  @Tag("PO-11")
  void thousandsOfTopicsAreNotComparedWithEachOther() throws Exception {
    database.execute(
        "select postrider.enqueue('shop', 'topic-' || n, '{}') from generate_series(1, 2000) n");
    database.execute(
        """
        insert into postrider.worker (name, instance, started_at, seen_at)
        select 'relay-' || n || '/1', 'instance-' || n, now(), now() from generate_series(1, 20) n;
        insert into postrider.relay (worker, instance, version, host, pid, listens)
        select w.id, w.instance, '1', 'host', 1, true from postrider.worker w;
        insert into postrider.relay_destination (worker, name, type) select worker, 'rabbit', 'rabbitmq' from postrider.relay;
        insert into postrider.relay_route (worker, namespace, topic, destination)
        select r.worker, 'shop', 'topic-' || n, 'rabbit' from postrider.relay r, generate_series(1, 30) n
        """);
    assertThat(read().topics()).hasSize(2000);
    assertThat(database.count("select count(*) from postrider.unrouted_topics()")).isEqualTo(100);
    assertThat(comparisons("select * from postrider.backlog()")).isLessThan(100_000);
    assertThat(comparisons("select * from postrider.unrouted_topics()")).isLessThan(100_000);
  }

  /** The most rows that one step of the plans has thrown away. */
  private long comparisons(String sql) throws Exception {
    long most = 0;
    long loops = 1;
    Pattern number = Pattern.compile("(?:Removed by (?:Join )?Filter: |loops=)(\\d+)");
    for (String line : plans(sql).lines().toList()) {
      Matcher found = number.matcher(line);
      if (found.find()) {
        long n = Long.parseLong(found.group(1));
        loops = line.contains("loops=") ? n : loops;
        most = line.contains("Removed") ? Math.max(most, n * loops) : most;
      }
    }
    return most;
  }

  /** The plans of all statements inside the functions, as auto_explain tells them. */
  private String plans(String sql) throws Exception {
    StringBuilder plans = new StringBuilder();
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          """
          set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;
          set auto_explain.log_level = notice; set auto_explain.log_analyze = on; set auto_explain.log_timing = off
          """);
      statement.execute(sql);
      for (SQLWarning w = statement.getWarnings(); w != null; w = w.getNextWarning()) {
        plans.append(w.getMessage()).append('\n');
      }
    }
    return plans.toString();
  }

  @Test
  void readsAnotherSchema() throws Exception {
    database = TestDatabase.empty(18);
    Schema schema = new Schema("other");
    new Migrations(schema).apply(database.dataSource());
    database.execute("select other.enqueue('shop', 'orders', '{}') from generate_series(1, 30)");
    try (Connection connection = database.dataSource().getConnection()) {
      assertThat(Backlog.read(connection, schema).pending()).isEqualTo(30);
    }
    assertThat(database.count("select sum(pending) from other.backlog(20)")).isBetween(20L, 40L);
  }

  @Test
  void isReadInATransactionOfItsOwn() throws Exception {
    try (Connection connection = database.transaction()) {
      assertThatThrownBy(() -> Backlog.read(connection))
          .isInstanceOf(PostriderException.class)
          .hasMessageContaining("setAutoCommit(true)");
    }
  }

  @Test
  void theSamplerGoesOnAfterAFailure() throws Exception {
    LinkedBlockingQueue<Backlog> read = new LinkedBlockingQueue<>();
    database.execute("alter function postrider.dispatching() rename to gone");
    try (BacklogSampler sampler =
        new BacklogSampler(
            database.dataSource(), Schema.DEFAULT, Duration.ofMillis(500), read::add)) {
      sampler.start().start();
      await().until(() -> database.count(ROLLBACKS) > 0);
      assertThat(read).isEmpty();
      database.execute("alter function postrider.gone() rename to dispatching");
      assertThat(read.take().pending()).isZero();
    }
  }

  private static Duration secs(int seconds) {
    return Duration.ofSeconds(seconds);
  }
}
