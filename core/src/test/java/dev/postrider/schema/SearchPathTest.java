package dev.postrider.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.error.RefusedException;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.Incoming;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.monitor.AuditFilter;
import dev.postrider.internal.monitor.AuditLog;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.monitor.Workers;
import dev.postrider.internal.retention.RetentionState;
import dev.postrider.internal.stream.StreamFilter;
import dev.postrider.internal.stream.StreamLog;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Route;
import dev.postrider.operations.MessageFilter;
import dev.postrider.operations.Messages;
import dev.postrider.operations.Pauses;
import dev.postrider.replay.Replay;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Functions and operators that others created in {@code public} are found by nothing of ours. */
class SearchPathTest {
  /**
   * Functions and operators that match the types in statements of ours exactly, where the server
   * has one for any type or for a related type only. Strings from the driver are varchar.
   */
  private static final String PLANT_FOR_STATEMENTS =
      """
      create function public.caught() returns text language plpgsql as
        $$ begin raise exception 'a planted function runs'; end $$;
      create function public.unnest(uuid[]) returns setof uuid language sql as
        'select public.caught()::uuid';
      create function public.format(text, text) returns text language sql as 'select public.caught()';
      create function public.format(text, name) returns text language sql as 'select public.caught()';
      create function public.add(text[], text) returns text[] language sql as
        'select array[public.caught()]';
      create aggregate public.array_agg(text) (sfunc = public.add, stype = text[], initcond = '{}');
      create function public.add(int[], int) returns int[] language sql as
        'select array[public.caught()::int]';
      create aggregate public.array_agg(int) (sfunc = public.add, stype = int[], initcond = '{}');
      create function public.cardinality(int[]) returns int language sql as
        'select public.caught()::int';
      create function public.compare(text, varchar) returns boolean language sql as
        'select public.caught() is null';
      create function public.compare(int, interval) returns interval language sql as
        'select public.caught()::interval';
      create operator public.* (leftarg = int, rightarg = interval, function = public.compare);
      do $$
      declare
        v_name text;
      begin
        foreach v_name in array array['=', '<>', '<', '>', '<=', '>=', '~', '||'] loop
          execute 'create operator public.' || v_name
            || ' (leftarg = text, rightarg = varchar, function = public.compare)';
        end loop;
      end $$;
      """;

  /** The service's login would run what others planted, with its own rights. */
  @Test
  @Tag("EN-13")
  void statementsUseNothingThatIsPlantedInPublic() throws Exception {
    TestDatabase database = TestDatabase.create();
    DataSource source = database.dataSource();
    database.execute(
        """
        select postrider.enqueue('shop', 'orders', '{}', key => 'k', tenant => 't',
          aggregate_type => 'order', aggregate_id => '7');
        select postrider.stream_append(array_agg(id), array_agg(1::smallint)) from postrider.message;
        insert into postrider.inbox_sequence (consumer, ordering_key, last_sequence)
          values ('c', 'k', 9);
        """);
    LeaseStore store = new LeaseStore(source, Schema.DEFAULT, "ann");
    UUID id = new Courier(database).block("bad").get(0);
    database.execute(PLANT_FOR_STATEMENTS);

    Messages messages = new Messages(source, Schema.DEFAULT);
    assertThat(messages.status(id)).isPresent();
    assertThat(messages.attempts(id)).hasSize(1);
    assertThat(messages.attempts(List.of(id))).hasSize(1);
    assertThat(messages.ofAggregate("order", "7", null, 10)).hasSize(1);
    assertThat(messages.search(MessageFilter.ALL.with("topic", "orders"), null, 10).items())
        .hasSize(1);
    DeadLetters dead = new DeadLetters(source, Schema.DEFAULT);
    assertThat(dead.list(DeadLetterFilter.all(), true, null, 10).items()).hasSize(1);
    assertThat(dead.find(id)).isPresent();
    BlockedKeys keys = new BlockedKeys(source, Schema.DEFAULT);
    assertThat(keys.list(null, 10)).hasSize(1);
    assertThat(keys.retry("ann", "shop", "k")).isTrue();
    assertThat(new Fleet(source, Schema.DEFAULT).read().living()).hasSize(1);
    assertThat(new Workers(source, Schema.DEFAULT).leases(0, 10)).isEmpty();
    AuditFilter byAnn = new AuditFilter("ann", null, null, null);
    assertThat(new AuditLog(source, Schema.DEFAULT).list(byAnn, null, 10)).hasSize(1);
    StreamLog stream = new StreamLog(source, Schema.DEFAULT);
    for (StreamFilter filter :
        List.of(
            StreamFilter.ALL,
            StreamFilter.ALL.with("tenant", "t"),
            StreamFilter.ALL.with("namespace", "shop"),
            StreamFilter.ALL.with("aggregate_type", "order"))) {
      assertThat(stream.after(0, filter, 10).events()).as("%s", filter).hasSize(1);
    }
    assertThat(RetentionState.list(source, Schema.DEFAULT)).isEmpty();
    assertThat(new Pauses(source, Schema.DEFAULT).list()).isEmpty();
    assertThat(new Replay(source, Schema.DEFAULT).jobs(10)).isEmpty();
    assertThat(store.checkDedup(new Route("shop", "orders"), new byte[32])).isEmpty();
    database.execute("select postrider.subscription_add('ann', 'shop', 'bills', 'audit')");
    database.execute("select postrider.enqueue('shop', 'bills', '{}')");
    assertThat(store.claim("shop", 10, Duration.ofMinutes(1))).isNotEmpty();
    try (Connection connection = database.transaction()) {
      assertThat(new Inbox().accept(connection, "c", new Incoming(id, "k", 1L)).isNew()).isFalse();
    }
  }

  /**
   * Only queue_of() has none: the planner inlines it, and its operators match their types exactly.
   */
  @Test
  @Tag("EN-13")
  void functionsThatRolesCallHaveAFixedSearchPath() throws Exception {
    TestDatabase database = TestDatabase.create();
    try (Connection connection = database.dataSource().getConnection()) {
      new Roles(Schema.DEFAULT).apply(connection);
    }
    assertThat(
            database.column(
                """
                select distinct f.proname from pg_proc f, aclexplode(f.proacl) a
                 where f.pronamespace = 'postrider'::regnamespace and a.grantee <> f.proowner
                   and f.prosqlbody is null
                   and not coalesce(array_to_string(f.proconfig, ',') ~ 'search_path=pg_catalog', false)
                """))
        .containsExactly("queue_of");
  }

  @Test
  void theSearchPathOfASessionStaysAsItWas() throws Exception {
    TestDatabase database = TestDatabase.create();
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("set search_path = mine");
      Database.Session session = Database.Session.on(connection, Schema.DEFAULT);
      String path = "select pg_catalog.current_setting('search_path')";
      String within = session.one(path, row -> row.getString(1));
      assertThat(within).isEqualTo("pg_catalog, pg_temp");
      assertThat(connection.getAutoCommit()).isTrue();
      try (ResultSet row = statement.executeQuery(path)) {
        assertThat(row.next()).isTrue();
        assertThat(row.getString(1)).isEqualTo("mine");
      }
      String refused = "select 1 + length(postrider.refuse_act('no')::text)";
      assertThatThrownBy(() -> session.one(refused, row -> row.getInt(1)))
          .isInstanceOf(RefusedException.class)
          .hasMessage("no")
          .hasNoSuppressedExceptions();
      assertThat(connection.getAutoCommit()).isTrue();
    }
  }
}
