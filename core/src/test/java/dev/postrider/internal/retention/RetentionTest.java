package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.internal.archive.Archive;
import dev.postrider.observe.RelayListener;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Roles;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** What is past its retention goes, and nothing else does. */
@Tag("OP-8")
@Timeout(60)
class RetentionTest implements RelayListener {
  private final TestDatabase database = TestDatabase.create();
  private final Map<String, Long> removed = new TreeMap<>();
  private final Map<String, String> failed = new TreeMap<>();
  private final Map<String, Duration> ages = new TreeMap<>();

  @Override
  public void retained(String task, long count, Duration took) {
    removed.merge(task, count, Long::sum);
  }

  @Override
  public void retentionFailed(String task, Exception error) {
    failed.put(task, String.valueOf(error.getMessage()));
  }

  @Override
  public void retentionAge(String task, Duration age) {
    ages.put(task, age);
  }

  private Retention retention(RetentionConfig config) {
    return new Retention(database.dataSource(), Schema.DEFAULT, config, "relay", this);
  }

  private static RetentionConfig only(RetentionTask task, Duration period) {
    return RetentionConfig.off().withPeriod(task, period);
  }

  /** Runs a task in this database; returns what it removed. */
  private long run(RetentionTask task, Duration period) throws Exception {
    retention(only(task, period)).runDue();
    assertThat(failed).isEmpty();
    return removed.getOrDefault(task.label(), -1L);
  }

  private static final String ROWS =
      """
      insert into postrider.dedupe values (1, 'new', postrider.new_id()),
        (1, 'old', postrider.id_floor(now() - interval '31 d'));
      insert into postrider.delivered_content values (1, '\\x01', postrider.new_id(), 'r'),
        (1, '\\x02', postrider.id_floor(now() - interval '31 d'), 'r');
      insert into postrider.inbox values ('c', postrider.new_id(), now() - interval '31 d'),
        ('c', postrider.new_id(), now());
      insert into postrider.inbox_sequence values ('c', 'new', 1, now()), ('c', 'old', 1, now() - interval '31 d');
      insert into postrider.audit (at, actor, action) values (now(), 'new', 'x'),
        (now() - interval '31 d', 'old', 'x');
      insert into postrider.replay_job (filter, from_id, to_id, created_by, state, updated_at)
        select '{}', gen_random_uuid(), gen_random_uuid(), 'ann', s.state, now() - s.age * interval '1 d'
          from (values ('done', 31), ('done', 1), ('stopped', 31), ('running', 31)) s(state, age);
      insert into postrider.worker (name, instance, seen_at, stopped_at) values
        ('stopped', 'i', now() - interval '31 d', now() - interval '31 d'), ('lost', 'i', now() - interval '31 d', null),
        ('alive', 'i', now(), null), ('own loop', '', now() - interval '31 d', null),
        ('busy', 'i', now() - interval '31 d', null);
      insert into postrider.lease (token, worker, claimed_at, until, open, ids)
        select 1, id, now(), now(), 1, '{}' from postrider.worker where name = 'busy';
      insert into postrider.stream_event (position, message_id, appended_at, occurred_at, route, size, delivery)
        select i, postrider.new_id(), now() - (3 - i) * interval '20 d', now(), 1, 1, 1 from generate_series(1, 3) i;
      insert into postrider.ordering_key (namespace, key, last_sequence, used_at) values
        ('n', 'old', 7, now() - interval '31 d'), ('n', 'new', 7, now())
      """;

  @ParameterizedTest
  @CsvSource({
    "DEDUPE_KEYS, 1, select dedupe_key from postrider.dedupe, new",
    "DELIVERED_CONTENT, 1, select sha256 from postrider.delivered_content, \\x01",
    "INBOX, 2, select ordering_key from postrider.inbox_sequence, new",
    "AUDIT, 1, select actor from postrider.audit where action = 'x', new",
    "REPLAY_JOBS, 2, select array_to_string(array(select state from postrider.replay_job order by id)::text[]|'+'), done+running",
    "WORKERS, 3, select array_to_string(array(select name from postrider.worker order by id)|'+'), alive+busy",
    "STREAM, 1, select min(position) from postrider.stream_event, 2",
    "ORDERING_KEYS, 1, select key from postrider.ordering_key, new"
  })
  void oldRowsGoAndOthersStay(RetentionTask task, long count, String left, String expected)
      throws Exception {
    database.execute(ROWS);
    assertThat(run(task, Duration.ofDays(30))).isEqualTo(count);
    assertThat(database.value(left.replace('|', ','))).isEqualTo(expected);
    assertThat(
            database.value(
                "select task || ' ' || removed || ' ' || last_removed || ' ' || (finished_at is not null)"
                    + " from postrider.retention"))
        .isEqualTo(task.label() + " " + count + " " + count + " true");
  }

  @ParameterizedTest
  @ValueSource(ints = {TestDatabase.OLDEST, TestDatabase.NEWEST})
  void messagesGoWithTheirAttempts(int version) throws Exception {
    OldLog log = new OldLog(TestDatabase.create(version));
    log.partition(60);
    log.partition(50);
    log.messages(60, "whole", 1_200);
    log.messages(50, "delivered", 700);
    log.messages(50, "pending", 1);
    log.messages(50, "dead", 1);
    log.messages(50, "discarded", 1);
    log.messages(45, "delivered", 5); // no partition: the default has them
    log.messages(1, "delivered", 5);
    Retention retention =
        new Retention(
            log.database.dataSource(),
            Schema.DEFAULT,
            only(RetentionTask.MESSAGES, Duration.ofDays(40)),
            "relay",
            this);
    retention.runDue();

    assertThat(failed).isEmpty();
    assertThat(log.database.column("select payload from postrider.message order by id")).hasSize(7);
    assertThat(log.left("pending")).isEqualTo(1);
    assertThat(log.left("dead")).isEqualTo(1);
    assertThat(log.left("delivered")).isEqualTo(5);
    assertThat(
            log.database.column(
                "select name from postrider.partition where name like '%_old_%' order by 1"))
        .as("those of 60 days are dropped, those of 50 days thinned out")
        .containsExactly("attempt_old_50", "message_old_50");
    assertThat(log.database.count("select count(*) from postrider.attempt")).isEqualTo(7);
    assertThat(log.database.column("select message_id from postrider.dead_letter")).hasSize(1);
    assertThat(log.database.column("select sequence from postrider.dedupe"))
        .as("a duplicate is still told its sequence")
        .containsOnly("1");
  }

  @Test
  void aMessageIsArchivedBeforeItGoes(@TempDir Path directory) throws Exception {
    OldLog log = new OldLog(database);
    log.partition(60);
    log.messages(60, "whole", 30);
    log.messages(50, "delivered", 20);
    retention(
            RetentionConfig.off()
                .withArchive(
                    ArchiveConfig.of(Duration.ofDays(40)), () -> new DirectoryStorage(directory)))
        .runDue();
    assertThat(failed).isEmpty();
    long lines = 0;
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        try (Stream<String> all = Archive.lines(file)) {
          lines += all.count();
        }
      }
    }
    assertThat(lines).isEqualTo(50);
    assertThat(database.count("select count(*) from postrider.message")).isZero();
    assertThat(database.count("select removed from postrider.retention")).isEqualTo(70);
  }

  @Test
  void oneRelayAtATimeAndADeadOneKeepsNobodyOut() throws Exception {
    database.execute(ROWS);
    database.execute(
        "insert into postrider.retention_run (holder, until, every) values ('other', now() + interval '1 h', '1 h')");
    retention(RetentionConfig.defaults()).runDue();
    assertThat(removed).isEmpty();
    database.execute("update postrider.retention_run set until = now() - interval '1 s'");
    retention(RetentionConfig.defaults()).runDue();
    assertThat(removed.keySet())
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(RetentionTask.values()).map(RetentionTask::label).toList());
    assertThat(failed).isEmpty();
  }

  @Test
  void whatWasDoneIsNotDoneAgainUntilItIsDue() throws Exception {
    Retention retention = retention(only(RetentionTask.DEDUPE_KEYS, Duration.ofDays(30)));
    retention.runDue();
    database.execute(ROWS);
    removed.clear();
    retention.runDue();
    assertThat(removed).isEmpty();
    database.execute(
        "update postrider.retention set started_at = now() - interval '8 h', finished_at = now() - interval '8 h',"
            + " oldest = null");
    retention.runDue();
    assertThat(removed).containsEntry("dedupe_keys", 1L);
  }

  @Test
  void aTableInWhichNothingIsDueIsNotRead() throws Exception {
    database.execute(
        """
        insert into postrider.inbox
        select 'c', gen_random_uuid(), now() - interval '10 d' - i * interval '1 s' from generate_series(1, 20000) i
        """);
    assertThat(run(RetentionTask.INBOX, Duration.ofDays(30))).isZero();
    assertThat(
            database.value(
                "select t.oldest = (select min(processed_at) from postrider.inbox) from postrider.retention t"))
        .isEqualTo("t");
    String step = "select done from postrider.retention_step('other', '1 h', 'inbox', '%s', 500)";
    assertThat(database.value(step.formatted("11 d"))).as("in one step").isEqualTo("t");
    assertThat(database.value(step.formatted("10 d"))).as("the first of many").isEqualTo("f");
  }

  @Test
  void whatBecomesDueIsFoundAndOperatorsAlwaysHaveTheTableRead() throws Exception {
    database.execute(ROWS);
    Retention retention = retention(only(RetentionTask.INBOX, Duration.ofDays(30)));
    retention.runDue();
    assertThat(removed).containsEntry("inbox", 2L);
    database.execute(
        "insert into postrider.inbox values ('c', postrider.new_id(), now() - interval '31 d')");
    assertThat(
            new Purge(database.dataSource(), Schema.DEFAULT)
                .run("ann", RetentionTask.INBOX, Duration.ofDays(30), n -> true))
        .isEqualTo(1);
    removed.clear();
    // 30 days later
    database.execute(
        """
        update postrider.inbox set processed_at = processed_at - interval '30 d';
        update postrider.inbox_sequence set passed_at = passed_at - interval '30 d';
        update postrider.retention set oldest = oldest - interval '30 d',
          started_at = now() - interval '8 h', finished_at = now() - interval '8 h'
        """);
    retention.runDue();
    assertThat(removed).containsEntry("inbox", 2L);
  }

  @Test
  void aTaskThatNoRelayWantsAnyMoreIsForgotten() throws Exception {
    RetentionConfig two =
        only(RetentionTask.DEDUPE_KEYS, Duration.ofDays(30))
            .withPeriod(RetentionTask.INBOX, Duration.ofDays(30));
    retention(two).runDue();
    retention(two.never(RetentionTask.INBOX)).runDue();
    assertThat(database.column("select task from postrider.retention order by 1"))
        .as("another relay may have looked a moment ago and want it")
        .containsExactly("dedupe_keys", "inbox");
    database.execute("update postrider.retention set wanted_at = now() - interval '4 h'");
    retention(two.never(RetentionTask.INBOX)).runDue();
    assertThat(database.column("select task from postrider.retention"))
        .containsExactly("dedupe_keys");
  }

  @Test
  void theAgeOfATaskIsThatOfItsLastRunInAnyRelay() throws Exception {
    database.execute(
        """
        insert into postrider.retention (task, period, started_at, finished_at) values
          ('dedupe_keys', '30 d', now() - interval '3 h', now() - interval '3 h'),
          ('audit', '40 d', now() - interval '3 h', now() - interval '3 h');
        insert into postrider.retention_run (holder, until, every) values ('other', now() + interval '1 h', '1 h')
        """);
    retention(
            only(RetentionTask.DEDUPE_KEYS, Duration.ofDays(30))
                .withPeriod(RetentionTask.INBOX, Duration.ofDays(30)))
        .runDue();
    assertThat(ages.keySet())
        .as("what this relay has a period for")
        .containsExactly("dedupe_keys", "inbox");
    assertThat(ages.get("dedupe_keys")).isGreaterThanOrEqualTo(Duration.ofHours(3));
    assertThat(ages.get("inbox")).as("since the relay started").isLessThan(Duration.ofMinutes(1));
  }

  private DataSource login(String name, String roles) {
    database.execute(new Roles(Schema.DEFAULT).script());
    database.execute(
        "drop role if exists %1$s; create role %1$s login password 'x' in role %2$s"
            .formatted(name, roles));
    PGSimpleDataSource login = new PGSimpleDataSource();
    login.setUrl(database.jdbcUrl());
    login.setUser(name);
    login.setPassword("x");
    return login;
  }

  @Test
  void aRelayThatArchivesNeedsTheRolesOfRelayAndOperator(@TempDir Path directory) throws Exception {
    OldLog log = new OldLog(database);
    log.partition(60);
    log.messages(60, "delivered", 30);
    log.messages(50, "delivered", 20);
    RetentionConfig config =
        RetentionConfig.defaults()
            .withArchive(
                ArchiveConfig.of(Duration.ofDays(40)), () -> new DirectoryStorage(directory));
    new Retention(login("relay_only", "postrider_relay"), Schema.DEFAULT, config, "relay", this)
        .runDue();
    assertThat(failed.keySet()).containsExactly("messages");
    assertThat(failed.get("messages")).contains("grant postrider_operator to \"relay_only\"");
    assertThat(log.left("delivered")).isEqualTo(50);

    failed.clear();
    database.execute("delete from postrider.retention");
    DataSource both = login("relay_archives", "postrider_relay, postrider_operator");
    new Retention(both, Schema.DEFAULT, config, "relay", this).runDue();
    assertThat(failed).isEmpty();
    assertThat(log.left("delivered")).isZero();
    assertThat(removed)
        .as("50 messages, and 20 attempts that had no partition of their own to be dropped with")
        .containsEntry("messages", 70L);
  }

  @Test
  void aLoginWithoutItsRoleIsToldWhichOneItNeeds() throws Exception {
    database.execute("drop role if exists relay_lost; create role relay_lost login password 'x'");
    PGSimpleDataSource login = new PGSimpleDataSource();
    login.setUrl(database.jdbcUrl());
    login.setUser("relay_lost");
    login.setPassword("x");
    new Retention(login, Schema.DEFAULT, RetentionConfig.defaults(), "relay", this).runDue();
    assertThat(failed.get("all")).contains("grant postrider_relay to \"relay_lost\"");
  }

  @Test
  void aRunThatDiedGoesOnWhereItWas() throws Exception {
    database.execute(ROWS);
    database.execute(
        """
        insert into postrider.retention (task, period, started_at, position)
        values ('dedupe_keys', '30 d', now() - interval '2 h', '[1, 1000]')
        """);
    assertThat(run(RetentionTask.DEDUPE_KEYS, Duration.ofDays(30))).as("behind the end").isZero();
    assertThat(database.column("select position from postrider.retention")).containsOnlyNulls();
  }

  /** The detail of a database error may quote a row. */
  @Test
  void theDetailOfAnErrorIsNotKept() throws Exception {
    database.execute(ROWS);
    database.execute(
        """
        create function public.refuse() returns trigger language plpgsql as $$
        begin
          raise exception 'not this one' using detail = 'row 4111-1111';
        end $$;
        create trigger refuse before delete on postrider.dedupe
          for each row execute function public.refuse()
        """);
    retention(only(RetentionTask.DEDUPE_KEYS, Duration.ofDays(30))).runDue();
    assertThat(failed).containsKey("dedupe_keys");
    List<RetentionState> states = RetentionState.list(database.dataSource(), Schema.DEFAULT);
    assertThat(states.get(0).error()).isEqualTo("not this one");
  }

  @Test
  void aTaskThatFailsSaysWhyAndKeepsNoOtherFromRunning() throws Exception {
    database.execute(ROWS);
    retention(
            only(RetentionTask.AUDIT, Duration.ofDays(29))
                .withPeriod(RetentionTask.DEDUPE_KEYS, Duration.ofDays(30)))
        .runDue();
    assertThat(failed)
        .containsEntry(
            "audit", "a retention of 29 days is too short for audit; at least 30 days is kept");
    assertThat(removed).containsEntry("dedupe_keys", 1L);
    List<RetentionState> states = RetentionState.list(database.dataSource(), Schema.DEFAULT);
    assertThat(states.get(0).error()).contains("too short");
    assertThat(states.get(0).failedAt()).isNotNull();
    assertThat(states.get(1).error()).isNull();
  }

  @Test
  void theAuditGetsOneRowADayAndTask() throws Exception {
    for (int i = 0; i < 3; i++) {
      database.execute(
          """
          delete from postrider.dedupe;
          insert into postrider.dedupe values (1, 'old', postrider.id_floor(now() - interval '31 d'));
          update postrider.retention
             set started_at = now() - interval '8 h', finished_at = now() - interval '8 h', oldest = null
          """);
      run(RetentionTask.DEDUPE_KEYS, Duration.ofDays(30));
    }
    assertThat(
            database.column("select actor || ' ' || action || ' ' || count from postrider.audit"))
        .containsExactly("retention retention 3");
  }

  @Test
  void deadLettersThatSayThatAMessageIsDeadStay() throws Exception {
    OldLog log = new OldLog(database);
    log.messages(50, "discarded", 2);
    log.messages(50, "dead", 1);
    log.messages(50, "requeued", 1);
    database.execute(
        "delete from postrider.message where id = (select min(message_id::text)::uuid"
            + " from postrider.dead_letter where resolution = 'discarded')");
    assertThat(run(RetentionTask.DEAD_LETTERS, Duration.ofDays(30))).isEqualTo(2);
    assertThat(database.column("select resolution from postrider.dead_letter order by 1"))
        .containsExactly("discarded", null);
  }

  @Test
  void everythingWrongIsSaidAtOnce() {
    assertThatThrownBy(
            () ->
                new RetentionConfig(
                    Duration.ofDays(2),
                    Map.of(
                        RetentionTask.AUDIT,
                        Duration.ZERO,
                        RetentionTask.INBOX,
                        Duration.ofDays(40_000)),
                    null))
        .hasMessage(
            "retention: expected interval 1 s..1 day, got PT48H;"
                + " expected inbox 1 s..36500 days, got PT960000H;"
                + " expected audit 1 s..36500 days, got PT0S");
    assertThat(RetentionConfig.defaults().never(RetentionTask.AUDIT).periods())
        .doesNotContainKey(RetentionTask.AUDIT);
  }
}
