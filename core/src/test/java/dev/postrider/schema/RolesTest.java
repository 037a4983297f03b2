package dev.postrider.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.testing.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RolesTest {
  private static final TestDatabase DATABASE = TestDatabase.create();
  private static final Roles ROLES = new Roles(Schema.DEFAULT);

  /** Called by other functions only, which run as the owner. */
  private static final List<String> INTERNAL =
      List.of(
          "archive_clear",
          "archive_keep_sequences",
          "attach_days",
          "bell",
          "check_destination",
          "check_filter",
          "check_headers",
          "check_isolation",
          "check_message",
          "check_replay",
          "check_retention",
          "check_snapshot",
          "check_subscription",
          "dead_pick",
          "dead_wanted",
          "declares_json",
          "dedupe_vanished",
          "end_catch_up",
          "exclude_claims",
          "exclude_producers",
          "fan_out_pick",
          "fan_out_rest",
          "find_keyed_suspect",
          "find_suspect",
          "fits_fast_path",
          "fitting",
          "full_share",
          "has_invalid_field",
          "has_partition",
          "headers_fit",
          "hide_followers",
          "intern_route",
          "is_json",
          "key_floor",
          "key_of",
          "keys_in_flight",
          "matches",
          "missing_days",
          "new_id",
          "number_key",
          "number_new_key",
          "partition_bound",
          "partition_count",
          "partition_ids",
          "partition_like",
          "pick_keyed",
          "pick_plain",
          "places_after",
          "plain_key",
          "promote",
          "purge_attempts",
          "purge_messages",
          "purge_pages",
          "purge_partition",
          "purge_step",
          "purge_tables",
          "queue_rows",
          "ranges",
          "read_batch",
          "record_act",
          "record_conflicts",
          "refuse",
          "refuse_act",
          "refuse_held_twice",
          "refuse_unreadable",
          "relieve_default",
          "remove_settled",
          "replace_default",
          "replay_ahead",
          "replay_bounds",
          "replay_scan",
          "replayable",
          "retention_count",
          "retire_keys",
          "ring",
          "ring_all",
          "ring_and_return",
          "route_of",
          "routes_of",
          "settle_gone",
          "settle_undelivered",
          "settled",
          "show_followers",
          "subscription_routes",
          "suspect_after",
          "take",
          "waiting_since");

  @BeforeAll
  static void makeRoles() {
    DATABASE.execute(ROLES.script());
    DATABASE.execute("select postrider.enqueue('shop', 'orders', '{}', key => 'k')");
    DATABASE.execute(
        """
        select postrider.settle(1, array[gen_random_uuid()],
          array[0::bigint], array[1::smallint])
        """);
  }

  @ParameterizedTest
  @Tag("EN-14")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          producer | select payload from postrider.message
          producer | select id from postrider.queue
          producer | select * from postrider.message_state
          producer | select * from postrider.attempt_history
          producer | insert into postrider.queue select * from postrider.queue
          producer | insert into postrider.message select * from postrider.message
          producer | select postrider.claim(1, 1, 1, 1, '{1}')
          producer | select postrider.worker_id('me')
          producer | select postrider.reap()
          producer | select postrider.arm_doorbell()
          producer | select postrider.ensure_partitions(1)
          producer | select postrider.intern_route('a', 'b')
          producer | update postrider.engine set max_payload_bytes = 1
          relay    | update postrider.attempt set error = null
          relay    | delete from postrider.attempt
          relay    | delete from postrider.attempt_default
          relay    | truncate postrider.attempt
          relay    | insert into postrider.attempt select * from postrider.attempt
          relay    | select payload from postrider.message
          relay    | update postrider.message set payload = ''
          relay    | delete from postrider.queue
          relay    | update postrider.queue set lease = null
          relay    | update postrider.dead_letter set resolved_at = now()
          relay    | select postrider.enqueue('a', 'b', '{}')
          relay    | select postrider.retire_default('message')
          relay    | select postrider.promote(1, now())
          relay    | select postrider.purge('me', 'audit', '30 days', 1, null, null)
          reader   | select postrider.retention_hold('me', '1 hour')
          relay    | select nextval('postrider.lease_token')
          operator | update postrider.message set payload = ''
          operator | delete from postrider.message
          operator | update postrider.attempt set error = null
          operator | delete from postrider.attempt
          operator | delete from postrider.queue
          operator | delete from postrider.audit
          operator | select postrider.enqueue('a', 'b', '{}')
          operator | select postrider.claim(1, 1, 1, 1, '{1}')
          relay    | select postrider.pause_on('me', 'topic', 'a/b')
          relay    | select * from postrider.message_scan('{}', 1, null)
          reader   | select postrider.pause_off('me', 'topic', 'a/b')
          operator | insert into postrider.pause (kind, name, paused_by) values ('topic', 'a/b', 'me')
          operator | drop table postrider.message_default
          operator | select hash from postrider.token
          reader   | select hash from postrider.token
          server   | select hash from postrider.token
          server   | select postrider.claim(1, 1, 1, 1, '{1}')
          operator | select * from postrider.token_find(1, sha256(''))
          operator | select * from postrider.token_marks()
          operator | select postrider.token_create('me', 'n', sha256(''), 'admin', '{}', null, null, '{}', 60)
          operator | select postrider.token_revoke('me', 1)
          operator | lock table postrider.claim_lock in row exclusive mode
          reader   | lock table postrider.stream_lock in share mode
          reader   | select * from postrider.token_find(1, sha256(''))
          reader   | select * from postrider.token_marks()
          relay    | select postrider.token_create('me', 'n', sha256(''), 'admin', '{}', null, null, '{}', 60)
          relay    | select * from postrider.token_list(0, 10)
          relay    | insert into postrider.relay select * from postrider.relay
          relay    | delete from postrider.relay_route
          reader   | select postrider.relay_breakers(1, '', '{}', '{}', '{}', '{}')
          operator | select postrider.chart_put('{1}')
          operator | select postrider.relay_record(1, '', '', '', 1, true, '[]', '[]')
          producer | select * from postrider.unrouted_topics()
          producer | select * from postrider.token_find(1, sha256(''))
          producer | select * from postrider.token_marks()
          reader   | insert into postrider.inbox (consumer, message_id) values ('c', gen_random_uuid())
          reader   | select setval('postrider.doorbell_0', 1)
          reader   | delete from postrider.dead_letter
          reader   | select postrider.enqueue('a', 'b', '{}')
          reader   | select postrider.claim(1, 1, 1, 1, '{1}')
          reader   | select postrider.disarm_doorbell('{1}')
          reader   | create table postrider.mine (id int)
          """)
  void isDenied(String role, String sql) {
    assertThatThrownBy(() -> as(role, sql))
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42501"));
  }

  @Test
  void theDocumentSaysHowManyStatementsWereTried() throws Exception {
    CsvSource tried =
        RolesTest.class
            .getDeclaredMethod("isDenied", String.class, String.class)
            .getAnnotation(CsvSource.class);
    assertThat(Files.readString(Path.of("../docs/security.md")))
        .contains("| statements that a role must not run | " + tried.textBlock().lines().count());
  }

  @Test
  @Tag("PO-4")
  @Tag("EN-14")
  void theRelayCanNeitherUpdateNorDeleteAnAttempt() {
    long attempts = DATABASE.count("select count(*) from postrider.attempt");
    assertThat(attempts).isPositive();
    for (String table : List.of("attempt", "attempt_default")) {
      assertThatThrownBy(() -> as("relay", "update postrider." + table + " set code = 'x'"))
          .hasMessageContaining("permission denied for table " + table);
      assertThatThrownBy(() -> as("relay", "delete from postrider." + table))
          .hasMessageContaining("permission denied for table " + table);
    }
    assertThat(DATABASE.count("select count(*) from postrider.attempt")).isEqualTo(attempts);
  }

  @ParameterizedTest
  @Tag("EN-14")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          producer | select postrider.enqueue('a', 'b', '{}', key => 'k', dedupe_key => 'd')
          producer | select postrider.try_enqueue_plain('a', 'b', '{}')
          producer | select postrider.try_enqueue_keyed('a', 'b', '{}', 'k', headers => '{"h": "v"}')
          producer | select postrider.try_enqueue_once('a', 'b', '{}', 'k', 'd2')
          producer | select * from postrider.enqueue_batch('[{"namespace":"a","topic":"c","payload":{}}]')
          relay    | select postrider.worker_id('me')
          relay    | select * from postrider.claim(1, 1, 1, 60000, array(select id from postrider.route))
          relay    | select postrider.settle_held(1, array[gen_random_uuid()], 1::smallint)
          relay    | select postrider.renew(1, 1), postrider.renew_held(1, gen_random_uuid(), 1)
          relay    | select postrider.reap()
          relay    | select postrider.arm_doorbell(), postrider.disarm_doorbell('{1}')
          relay    | select * from postrider.ensure_partitions(1)
          relay    | select * from postrider.message_state, postrider.attempt_history
          relay    | select * from postrider.pause, postrider.route, postrider.partition
          relay    | listen postrider
          relay    | select postrider.retention_next('me', '1 hour', '{stream}', '{3 days}', false)
          relay    | select * from postrider.retention_step('me', '1 hour', 'stream', '3 days', 10)
          relay    | select postrider.retention_skip('me', 'stream', 'x'), postrider.check_archive_first()
          relay    | select postrider.retention_end('me', 'stream', 0, null, true), postrider.retention_leave('me')
          relay    | select * from postrider.retention
          operator | select * from postrider.purge('me', 'ordering_keys', '90 days', 10, null, null)
          operator | select m.payload, a.* from postrider.message m, postrider.attempt a
          operator | select * from postrider.message_state, postrider.attempt_history
          operator | select * from postrider.audit, postrider.dedupe, postrider.ordering_key
          reader   | select m.payload, a.* from postrider.message m, postrider.attempt a
          reader   | select * from postrider.message_state, postrider.attempt_history
          operator | select postrider.pause_on('me', 'topic', 'a/b'), postrider.pause_off('me', 'topic', 'a/b')
          operator | select * from postrider.message_scan('{}', 1, null)
          operator | select * from postrider.advance_sequences('me')
          reader   | select * from postrider.sequence_places()
          server   | select postrider.token_create('me', 'n', sha256(''), 'admin', '{}', null, null, '{}', 60)
          server   | select postrider.enqueue('a', 'b', '{}')
          server   | select postrider.pause_on('me', 'topic', 'a/b'), postrider.pause_off('me', 'topic', 'a/b')
          relay    | select postrider.workers_seen('{1}')
          relay    | select postrider.relay_record(1, 'i', '1', 'h', 1, true, '[]', '[]')
          relay    | select * from postrider.ring_owners('i')
          relay    | select postrider.relay_breakers(1, 'i', '{}', '{}', '{}', '{}')
          server   | select postrider.chart_put('{1}')
          relay    | select * from postrider.unrouted_topics(), postrider.token_find(1, sha256('')), postrider.token_marks()
          reader   | select * from postrider.relay, postrider.relay_destination, postrider.relay_route
          operator | select * from postrider.relay, postrider.unrouted_topics()
          reader   | select * from postrider.message_scan('{}', 1, null)
          reader   | select * from postrider.message where id >= postrider.id_floor(now())
          """)
  void isAllowed(String role, String sql) {
    assertThatCode(() -> as(role, sql)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(strings = {"producer", "relay", "operator", "reader", "server"})
  @Tag("EN-14")
  void noRoleCanWriteToAnyTableOrLogIn(String role) {
    assertThat(
            DATABASE.column(
                """
                select relname || ' ' || privilege
                  from pg_class, unnest(array['insert', 'update', 'delete', 'truncate',
                    'references', 'trigger']) privilege
                 where relnamespace = 'postrider'::regnamespace and relkind in ('r', 'p', 'v')
                   and has_table_privilege('postrider_ROLE', oid, privilege)
                union all
                select 'login' from pg_roles where rolname = 'postrider_ROLE' and rolcanlogin
                """
                    .replace("ROLE", role)))
        .isEmpty();
  }

  /** A new function must be given to a role in the script, or be named here as internal. */
  @Test
  @Tag("EN-14")
  void everyFunctionIsEitherGrantedOrInternal() {
    assertThat(
            DATABASE.column(
                """
                select distinct p.proname from pg_proc p
                 where p.pronamespace = 'postrider'::regnamespace and not exists (
                   select from aclexplode(p.proacl) a where a.grantee <> p.proowner)
                 order by 1
                """))
        .containsExactlyElementsOf(INTERNAL);
  }

  @Test
  @Tag("EN-14")
  void functionsThatRunAsTheOwnerHaveAFixedSearchPath() {
    assertThat(
            DATABASE.column(
                """
                select proname from pg_proc
                 where pronamespace = 'postrider'::regnamespace and prosecdef and prosqlbody is null
                   and not coalesce(proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'
                """))
        .isEmpty();
  }

  /** Names in a body that was parsed when it was made cannot change, but those in what it calls. */
  @Test
  @Tag("EN-14")
  void functionsWithoutASearchPathCallNoneThatLooksNamesUpLater() {
    String callees =
        """
        with recursive owners as (
          select oid, proname from pg_proc
           where pronamespace = 'postrider'::regnamespace and prosecdef and prosqlbody is not null),
        called as (
          select o.oid, o.proname, 0 as depth from owners o
          union
          select p.oid, p.proname, c.depth + 1
            from called c
            join pg_depend d on d.classid = 'pg_proc'::regclass and d.objid = c.oid
             and d.refclassid = 'pg_proc'::regclass
            join pg_proc p on p.oid = d.refobjid and p.pronamespace = 'postrider'::regnamespace
           where c.depth < 10)
        """;
    assertThat(DATABASE.column(callees + "select distinct proname from called order by 1"))
        .contains("try_enqueue_once", "headers_fit", "ring_and_return");
    assertThat(
            DATABASE.column(
                callees
                    + """
                    select distinct p.proname from called c join pg_proc p on p.oid = c.oid
                     where p.prosqlbody is null
                       and not coalesce(p.proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'
                    """))
        .isEmpty();
  }

  @Test
  @Tag("EN-14")
  void afterAMigrationNobodyCanCallAnything() {
    TestDatabase database = TestDatabase.create();
    assertThat(
            database.column(
                """
                select p.proname from pg_proc p, aclexplode(coalesce(p.proacl,
                  acldefault('f', p.proowner))) a
                 where p.pronamespace = 'postrider'::regnamespace and a.grantee <> p.proowner
                """))
        .isEmpty();
  }

  @Test
  @Tag("EN-14")
  void theScriptTakesBackWhatARoleHasTooMuch() throws Exception {
    TestDatabase database = TestDatabase.create();
    database.execute(ROLES.script());
    database.execute("grant delete on postrider.message to postrider_reader");
    database.execute("grant execute on function postrider.reap to public");
    try (Connection connection = database.dataSource().getConnection()) {
      ROLES.apply(connection);
    }
    assertThat(
            database.value(
                """
                select has_table_privilege('postrider_reader', 'postrider.message', 'delete')
                    or has_function_privilege('postrider_reader', 'postrider.reap()', 'execute')
                """))
        .isEqualTo("f");
  }

  @ParameterizedTest
  @ValueSource(ints = {TestDatabase.OLDEST, TestDatabase.NEWEST})
  @Tag("EN-14")
  @Tag("EN-15")
  void rolesAreMadeFromManyDatabasesAtOnce(int version) throws Exception {
    Schema schema = new Schema("outbox_roles");
    List<TestDatabase> databases =
        Stream.generate(() -> TestDatabase.empty(version)).limit(4).toList();
    for (TestDatabase database : databases) {
      new Migrations(schema).apply(database.dataSource());
    }
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      List<? extends Future<?>> runs =
          Stream.concat(databases.stream(), databases.stream())
              .map(d -> pool.submit(() -> d.execute(new Roles(schema).script())))
              .toList();
      for (Future<?> run : runs) {
        run.get();
      }
    } finally {
      pool.shutdown();
    }
    assertThat(
            databases
                .get(0)
                .column("select rolname from pg_roles where rolname ~ '^outbox_roles_'"))
        .hasSize(5);
  }

  /** The functions run as the schema's owner, but the audit names who called them. */
  @Test
  @Tag("EN-14")
  void theAuditNamesTheLoginOfTheCallerAndNotTheOwner() throws SQLException {
    DATABASE.execute("drop role if exists clerk; create role clerk in role postrider_operator");
    try (Connection connection = DATABASE.transaction();
        Statement statement = connection.createStatement()) {
      statement.execute("set session authorization clerk");
      statement.execute("select postrider.pause_on('the owner', 'topic', 'shop/orders')");
      statement.execute("reset session authorization");
      try (ResultSet row =
          statement.executeQuery("select actor, login from postrider.audit order by id desc")) {
        assertThat(row.next()).isTrue();
        assertThat(row.getString("actor")).isEqualTo("the owner");
        assertThat(row.getString("login")).isEqualTo("clerk");
      }
    }
  }

  /** Else an operator could have what he removed counted in the row of another one. */
  @Test
  @Tag("EN-14")
  void anActIsContinuedOnlyByItsLoginAndWithTheSameDetail() throws SQLException {
    DATABASE.execute(
        "drop role if exists ann, ben; create role ann in role postrider_operator;"
            + " create role ben in role postrider_operator");
    try (Connection connection = DATABASE.transaction();
        Statement statement = connection.createStatement()) {
      long act = purge(statement, "ann", "90 days", null);
      assertThat(purge(statement, "ann", "90 days", act)).isEqualTo(act);
      assertThat(purge(statement, "ben", "90 days", act)).isNotEqualTo(act);
      assertThat(purge(statement, "ann", "91 days", act)).isNotEqualTo(act);
    }
  }

  private static long purge(
      Statement statement, String login, String period, @Nullable Long continued)
      throws SQLException {
    statement.execute("set session authorization " + login);
    try (ResultSet row =
        statement.executeQuery(
            "select p_audit from postrider.purge('me', 'ordering_keys', '%s', 10, null, %s)"
                .formatted(period, continued))) {
      assertThat(row.next()).isTrue();
      return row.getLong(1);
    } finally {
      statement.execute("reset session authorization");
    }
  }

  private static void as(String role, String sql) throws SQLException {
    try (Connection connection = DATABASE.transaction();
        Statement statement = connection.createStatement()) {
      statement.execute("set role postrider_" + role);
      statement.execute(sql);
    }
  }
}
