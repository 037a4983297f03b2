package dev.postrider.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.message.PostriderException;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.ds.PGSimpleDataSource;

class MigrationsTest {
  private static final Schema TWO = new Schema("outbox_two");

  private final Migrations migrations = new Migrations(Schema.DEFAULT);

  @ParameterizedTest
  @ValueSource(ints = {15, 16, 17, 18})
  @Tag("EN-13")
  void theFirstRunAppliesEveryFileAndTheNextNone(int version) throws Exception {
    TestDatabase database = TestDatabase.empty(version);
    List<String> pending = migrations.pending(database.dataSource());
    List<String> applied = migrations.apply(database.dataSource());
    assertThat(pending).isEqualTo(applied);
    assertThat(migrations.pending(database.dataSource())).isEmpty();
    assertThat(applied).containsExactly("V001__tables.sql", "functions");
    assertThat(database.column("select file from postrider.migration order by 1"))
        .containsExactlyInAnyOrderElementsOf(applied);
    List<String> schema = describe(database, "postrider");

    assertThat(migrations.apply(database.dataSource())).isEmpty();
    assertThat(describe(database, "postrider")).isEqualTo(schema);
  }

  @Test
  @Tag("EN-13")
  void manyAtOnceApplyEachFileOnce() throws Exception {
    TestDatabase database = TestDatabase.empty(18);
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      List<Future<List<String>>> runs =
          Stream.generate(() -> pool.submit(() -> migrations.apply(database.dataSource())))
              .limit(8)
              .toList();
      long working = 0;
      for (Future<List<String>> run : runs) {
        working += run.get().isEmpty() ? 0 : 1;
      }
      assertThat(working).isOne();
    } finally {
      pool.shutdown();
    }
  }

  @Test
  @Tag("EN-13")
  void aTableFileChangedSinceItWasAppliedIsDetectedAndNothingIsDone() throws Exception {
    TestDatabase database = TestDatabase.create();
    database.execute("update postrider.migration set checksum = 'x'");
    assertThatThrownBy(() -> migrations.apply(database.dataSource()))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("V001__tables.sql was applied with other contents");
    assertThatThrownBy(() -> database.execute(migrations.script()))
        .rootCause()
        .hasMessageContaining("V001__tables.sql was applied with other contents");
    assertThat(database.value("select checksum from postrider.migration where file = 'functions'"))
        .isEqualTo("x");
  }

  /** Another body, another return type, one that is gone, one too many, and a view. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("EN-13")
  void functionsOfAnotherBuildAreReplacedAsAWhole(boolean sameSignatures) throws Exception {
    TestDatabase database = TestDatabase.create();
    database.execute(new Roles(Schema.DEFAULT).script());
    List<String> schema = describe(database, "postrider");
    database.execute(
        """
        create or replace function postrider.key_floor() returns bigint language sql return 0;
        create function postrider.left_over(int) returns int language sql return 1;
        create function postrider.reap(int) returns int language sql return 1;
        drop function postrider.ring_all();
        update postrider.migration set checksum = 'x' where file = 'functions'
        """);
    if (!sameSignatures) {
      database.execute(
          """
          drop function postrider.reap();
          create function postrider.reap() returns text language sql return 'x';
          """);
    }
    assertThat(migrations.pending(database.dataSource())).containsExactly("functions");
    assertThat(migrations.apply(database.dataSource())).containsExactly("functions");
    assertThat(describe(database, "postrider")).isEqualTo(schema);
  }

  /** An old instance that restarts in a fleet under upgrade must not bring its functions back. */
  @Test
  @Tag("EN-13")
  void functionsOfALaterVersionStay() throws Exception {
    TestDatabase database = TestDatabase.create();
    database.execute(
        """
        create or replace function postrider.key_floor() returns bigint language sql return 7;
        update postrider.migration set checksum = 'x', version = '0.10.0' where file = 'functions'
        """);
    assertThat(migrations.apply(database.dataSource())).isEmpty();
    database.execute(migrations.script());
    assertThat(database.count("select postrider.key_floor()")).isEqualTo(7);
    try (Connection connection = database.dataSource().getConnection()) {
      migrations.require(connection);
    }
  }

  @Test
  @Tag("EN-13")
  void aFailedUpgradeLeavesNothingHalfDone() throws Exception {
    TestDatabase database = TestDatabase.empty(18);
    database.execute("create schema postrider; create table postrider.audit (id int)");
    assertThatThrownBy(() -> migrations.apply(database.dataSource()))
        .hasMessageContaining("\"audit\" already exists");
    assertThat(
            database.column(
                "select relname from pg_class where relnamespace = 'postrider'::regnamespace"))
        .containsExactly("audit");
  }

  @ParameterizedTest
  @ValueSource(ints = {15, 16, 17, 18})
  @Tag("EN-13")
  void theScriptMakesTheSameSchemaAndMayBeRunTwice(int version) throws Exception {
    TestDatabase applied = TestDatabase.create(version);
    TestDatabase scripted = TestDatabase.empty(version);
    scripted.execute(migrations.script());
    assertThat(describe(scripted, "postrider")).isEqualTo(describe(applied, "postrider"));

    scripted.execute(migrations.script());
    assertThat(describe(scripted, "postrider")).isEqualTo(describe(applied, "postrider"));
    assertThat(migrations.apply(scripted.dataSource())).isEmpty();
  }

  @Test
  @Tag("EN-13")
  void anotherSchemaLivesBesideTheDefaultOne() throws Exception {
    TestDatabase database = TestDatabase.create();
    new Migrations(TWO).apply(database.dataSource());
    assertThat(describe(database, "outbox_two")).isEqualTo(describe(database, "postrider"));
    database.execute("select postrider.arm_doorbell(), outbox_two.arm_doorbell()");

    try (Connection listener = database.dataSource().getConnection();
        Statement listen = listener.createStatement()) {
      listen.execute("listen postrider; listen outbox_two");
      enqueue(database, TWO);
      assertThat(channels(listener)).containsOnly("outbox_two");
      enqueue(database, Schema.DEFAULT);
      assertThat(channels(listener)).containsOnly("postrider");
    }
    assertThat(database.count("select count(*) from outbox_two.message")).isOne();
    assertThat(database.count("select count(*) from postrider.message")).isOne();
    database.execute("drop schema postrider cascade");
    enqueue(database, TWO);
  }

  @Test
  @Tag("EN-13")
  @Tag("EN-14")
  void anUpToDateSchemaIsVerifiedWithoutTheRightToChangeIt() throws Exception {
    TestDatabase database = TestDatabase.create();
    database.execute(new Roles(Schema.DEFAULT).script());
    PGSimpleDataSource relay = new PGSimpleDataSource();
    relay.setUrl(database.jdbcUrl() + "&options=-c%20role=postrider_relay");
    assertThat(migrations.apply(relay)).isEmpty();
  }

  /** An upgrade of the operating system may change a language's order under an index. */
  @Test
  @Tag("EN-13")
  void noIndexIsInTheOrderOfALanguage() {
    assertThat(
            TestDatabase.create()
                .column(
                    """
                    select a.attrelid::regclass || ' ' || a.attname
                      from pg_attribute a join pg_class c on c.oid = a.attrelid
                     where c.relnamespace = 'postrider'::regnamespace and c.relkind in ('i', 'I')
                       and a.attcollation not in (0, 'pg_catalog."C"'::regcollation)
                    """))
        .isEmpty();
  }

  private static void enqueue(TestDatabase database, Schema schema) throws Exception {
    try (Connection connection = database.transaction()) {
      new Outbox(schema).enqueue(connection, NewMessage.to("a", "b").json("{}").build());
      connection.commit();
    }
  }

  private static List<String> channels(Connection listener) throws Exception {
    PGNotification[] heard = listener.unwrap(PGConnection.class).getNotifications(10_000);
    return Stream.of(heard).map(PGNotification::getName).toList();
  }

  /** Everything that makes up the schema, as text in which the schema's name does not show. */
  private static List<String> describe(TestDatabase database, String schema) {
    return database.column(
        """
        select regexp_replace(line, '\\mSCHEMA\\M', '*', 'g') from (
          select concat_ws(' ', 'column', c.relname, c.relkind, c.reloptions::text, a.attname,
                   format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage, c.relacl::text) as line
            from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
           where c.relnamespace = 'SCHEMA'::regnamespace and c.relkind <> 'i'
          union all
          select concat_ws(' ', 'index', indexdef) from pg_indexes where schemaname = 'SCHEMA'
          union all
          select concat_ws(' ', 'constraint', conname, pg_get_constraintdef(oid)) from pg_constraint
           where connamespace = 'SCHEMA'::regnamespace
          union all
          select concat_ws(' ', 'view', viewname, definition) from pg_views where schemaname = 'SCHEMA'
          union all
          select concat_ws(' ', 'function', pg_get_functiondef(oid), proacl::text) from pg_proc
           where pronamespace = 'SCHEMA'::regnamespace
          union all
          select 'file ' || file from SCHEMA.migration) t
        order by 1
        """
            .replace("SCHEMA", schema));
  }
}
