package dev.postrider.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.internal.archive.Archive;
import dev.postrider.testing.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What somebody can do who may log in to the database and has no right in the schema. */
class ForeignLoginTest {
  /** Every name that was ever used for an advisory lock, and those that are the obvious next. */
  private static final List<String> NAMES =
      List.of(
          "claim", "retention", "replay", "partitions", "archive", "stream", "migration", "purge");

  private static final String ENQUEUE = "select postrider.enqueue('shop', 'orders', '{}')";
  private static final String CLAIM =
      "select count(*) from postrider.claim(postrider.worker_id('ann'), 10, 1000, 60000, array[1])";
  private static final String GIVE_UP_SOON =
      """
      do $$ begin
        execute format('alter database %I set statement_timeout = 20000', current_database());
      end $$
      """;

  /** Functions that match calls in the files better than the server's own, which take any type. */
  private static final String PLANT =
      """
      create table public.called (what text);
      grant insert on public.called to public;
      do $plant$
      declare
        v_name text;
        v_arguments text;
      begin
        for v_name in
          select distinct p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
           where n.nspname = 'pg_catalog' and p.prokind = 'f'
             and p.proname in ('concat', 'num_nulls', 'num_nonnulls', 'format', 'jsonb_build_object',
               'array_length', 'cardinality', 'unnest', 'array_append', 'to_jsonb', 'greatest',
               'convert_from', 'convert_to', 'lower', 'hashtext', 'octet_length', 'substr', 'now',
               'length', 'left', 'right', 'md5', 'sha256', 'pg_notify', 'coalesce', 'date_trunc',
               'to_timestamp', 'floor', 'extract', 'pg_column_size', 'set_config', 'quote_ident')
        loop
          foreach v_arguments in array array['text', 'text, text', 'text, text, text', 'bytea',
            'uuid', 'bigint', 'bigint, bigint', 'text, bigint', 'jsonb', 'bigint[]', 'uuid[]',
            'int, int', 'text, jsonb', 'text, int', 'timestamptz', 'text, timestamptz']
          loop
            execute format('create function public.%I(%s) returns text language plpgsql volatile as '
              || '$f$ begin insert into public.called values (%L); return null; end $f$',
              v_name, v_arguments, v_name || '(' || v_arguments || ')');
          end loop;
        end loop;
      end $plant$;
      create function public.same(uuid, text) returns boolean language sql as 'select true';
      create operator public.= (leftarg = uuid, rightarg = text, function = public.same);
      """;

  @Test
  @Tag("EN-13")
  void functionsPlantedInPublicAreNotUsed() throws Exception {
    TestDatabase planted = TestDatabase.empty(18);
    planted.execute(PLANT);
    new Migrations(Schema.DEFAULT).apply(planted.dataSource());
    try (Connection connection = planted.dataSource().getConnection()) {
      new Roles(Schema.DEFAULT).apply(connection);
      try (Statement statement = connection.createStatement()) {
        statement.execute(new Migrations(new Schema("by_script")).script());
      }
    }
    assertThat(planted.column(DEPENDS)).as("objects bound to functions in public").isEmpty();
    planted.execute(ENQUEUE);
    assertThat(planted.count(CLAIM)).isOne();
    assertThat(planted.column("select what from public.called")).isEmpty();
  }

  /**
   * Views, defaults, constraints and function bodies that the server parsed when they were made.
   */
  private static final String DEPENDS =
      """
      select distinct pg_describe_object(d.classid, d.objid, d.objsubid)
                      || ' uses ' || pg_describe_object(d.refclassid, d.refobjid, 0)
        from pg_depend d
        left join pg_proc f on d.refclassid = 'pg_proc'::regclass and f.oid = d.refobjid
        left join pg_operator o on d.refclassid = 'pg_operator'::regclass and o.oid = d.refobjid
       where coalesce(f.pronamespace, o.oprnamespace) = 'public'::regnamespace
         and d.classid <> 'pg_operator'::regclass
      """;

  /** What everybody may do with our objects, a role with usage of the schema may do, too. */
  private static final String OPEN =
      """
      select c.relname from pg_class c, aclexplode(c.relacl) a
       where c.relnamespace = 'postrider'::regnamespace and a.grantee = 0
      union all
      select f.proname from pg_proc f,
             aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) a
       where f.pronamespace = 'postrider'::regnamespace and a.grantee = 0
      union all
      select n.nspname from pg_namespace n, aclexplode(n.nspacl) a
       where n.nspname = 'postrider' and a.grantee = 0
      """;

  @Test
  @Tag("EN-14")
  void theOwnersDefaultPrivilegesOpenNothing() throws Exception {
    TestDatabase database = TestDatabase.empty(18);
    for (String kind : List.of("tables", "sequences", "functions", "schemas")) {
      database.execute("alter default privileges grant all on " + kind + " to public");
    }
    new Migrations(Schema.DEFAULT).apply(database.dataSource());
    try (Connection connection = database.dataSource().getConnection()) {
      new Roles(Schema.DEFAULT).apply(connection);
    }
    database.execute("select postrider.ensure_partitions(2)");
    assertThat(database.column(OPEN)).as("objects that everybody may use").isEmpty();
  }

  @Test
  @Tag("EN-16")
  void advisoryLocksOfOthersStopNothing(@TempDir Path directory) throws Exception {
    TestDatabase database = TestDatabase.create();
    database.execute(GIVE_UP_SOON);
    database.execute("drop role if exists passer_by; create role passer_by");
    try (Connection foreign = database.dataSource().getConnection();
        Statement statement = foreign.createStatement()) {
      statement.execute("set role passer_by");
      for (String name : NAMES) {
        statement.execute("select pg_advisory_lock(hashtext('postrider." + name + "'))");
      }
      work(database, directory);
      assertThat(new Migrations(new Schema("second")).apply(database.dataSource())).isNotEmpty();
    }
  }

  /** The names above are those of today. */
  @Test
  @Tag("EN-16")
  void noFunctionTakesAnAdvisoryLock() {
    assertThat(
            TestDatabase.create()
                .column(
                    """
                    select proname from pg_proc
                     where pronamespace = 'postrider'::regnamespace and prokind = 'f'
                       and pg_get_functiondef(oid) ~ 'advisory'
                    """))
        .isEmpty();
  }

  /** One act of each kind that keeps others out. */
  private static void work(TestDatabase database, Path directory) throws Exception {
    database.execute(ENQUEUE);
    assertThat(database.count(CLAIM)).isOne();
    database.execute("select postrider.ensure_partitions(1)");
    database.execute("select postrider.requeue_dead('ann', '{}', null, 10)");
    database.execute("select postrider.stream_append('{}', '{}')");
    database.execute(
        "select postrider.replay_step((postrider.replay_start('ann', '{\"topic\":\"orders\"}', null)).id, 10)");
    ArchiveConfig archive = ArchiveConfig.of(Duration.ofDays(3));
    new Archive(database.dataSource(), Schema.DEFAULT, archive, new DirectoryStorage(directory))
        .run("ann", report -> true);
    try (Connection connection = database.dataSource().getConnection()) {
      new Roles(Schema.DEFAULT).apply(connection);
    }
  }
}
