package dev.postrider.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testing.Pages;
import dev.postrider.testing.Postbox;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Somebody holds an old snapshot, a report or a backup say, so that nothing dead can be removed:
 * what a busy relay and its producers do all the time stays as cheap as before.
 */
@Tag("EN-21")
@Timeout(60)
class HeldSnapshotTest {
  private static final int MANY = 3000;

  /** As a relay does it while there is work: each claim goes on where the last one ended. */
  private static final String DELIVER =
      """
      do $$
      declare
        c record;
        v_cursor postrider.claim_cursor;
        v_search boolean := true;
      begin
        loop
          select array_agg(x.id) filter (where x.id is not null) as id,
                 array_agg(x.token) filter (where x.id is not null) as token,
                 (array_agg(x.cursor) filter (where x.id is null))[1] as cursor into c
            from postrider.claim_from(1, 100, 1000000, 60000, '{1}', v_cursor, v_search, v_search) x;
          v_cursor := c.cursor;
          exit when c.id is null and v_search;
          v_search := c.id is null;
          if c.id is not null then
            perform postrider.settle(1, c.id, c.token, array_fill(1::smallint, array[cardinality(c.id)]));
          end if;
          commit;
        end loop;
      end $$
      """;

  private final Postbox post = new Postbox(18);
  private final Jam jam = new Jam(post.database);
  private Connection reader;

  @BeforeEach
  void holdASnapshot() throws SQLException {
    post.database.withoutAutovacuum();
    post.database.execute(
        "select postrider.worker_id('w'), postrider.intern_route('shop', 'orders')");
    reader = post.database.transaction();
    reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    try (Statement statement = reader.createStatement()) {
      statement.execute("select count(*) from postrider.queue");
    }
  }

  @AfterEach
  void release() throws SQLException {
    reader.close();
    post.check();
  }

  private long enqueuePages() throws SQLException {
    return Pages.touched(
        post.database, "select postrider.enqueue('shop', 'orders', '{}', key => 'k')");
  }

  /** A claim as full as it can be, which is settled at once; returns its cursor. */
  private String cursorOfAFullClaim() {
    String cursor =
        post.database.value(
            """
            with claimed as materialized (
              select * from postrider.claim_from(1, 100, 1000000, 60000, '{1}')),
            settled as materialized (
              select postrider.settle(1, array_agg(id), array_agg(token), array_fill(1::smallint, array[100]))
                from claimed where id is not null having count(*) = 100)
            select c.cursor from claimed c cross join settled where c.id is null
            """);
    return "'" + cursor.replace("'", "''") + "'::postrider.claim_cursor";
  }

  /** What a relay at work calls between two searches. */
  private long claimBehind(String cursor) throws SQLException {
    return claim(1, cursor + ", p_search => false, p_front => false");
  }

  /** What a relay calls that has found nothing the last time. */
  private long idleClaim(int route) throws SQLException {
    return claim(route, "null, p_search => true, p_front => true");
  }

  /** The pages that it reads, in a session that knows the statement. Nothing is claimed. */
  private long claim(int route, String start) throws SQLException {
    String sql =
        "select * from postrider.claim_from(1, 100, 1000000, 60000, '{%d}', %s, p_reap => false)"
            .formatted(route, start);
    try (Connection connection = post.database.transaction()) {
      Pages.touched(connection, sql);
      connection.rollback();
      long pages = Pages.touched(connection, sql);
      connection.rollback();
      return pages;
    }
  }

  @Test
  void anEnqueueToAKeyWithALongHistory() throws Exception {
    long before = enqueuePages();
    jam.run("orders", "k", MANY);
    post.database.execute(DELIVER);
    assertThat(enqueuePages()).isLessThan(2 * before + 20);
  }

  /** One transaction each, as services do it: every one leaves a dead version behind. */
  @Test
  void anEnqueueToAKeyAfterManyTransactions() throws Exception {
    long before = enqueuePages();
    post.database.execute(
        """
        do $$ begin
          for i in 1 .. 1000 loop
            perform postrider.enqueue('shop', 'orders', '{}', key => 'k');
            commit;
          end loop;
        end $$
        """);
    assertThat(enqueuePages()).isLessThan(2 * before + 20);
  }

  @Test
  void aClaimOfARelayAtWorkAfterManyDeliveries() throws Exception {
    post.send(250, "orders", null);
    long before = claimBehind(cursorOfAFullClaim());
    post.send(MANY, "orders", null);
    post.database.execute(DELIVER);
    post.send(250, "orders", null);
    long after = claimBehind(cursorOfAFullClaim());
    assertThat(after).as("%d before", before).isLessThan(before + 100);
  }

  @Test
  void aClaimOfARelayAtWorkAfterManyDeliveriesOfOtherKeys() throws Exception {
    jam.send("orders", "first-", 250);
    long before = claimBehind(cursorOfAFullClaim());
    jam.send("orders", "second-", MANY);
    post.database.execute(DELIVER);
    jam.send("orders", "third-", 250);
    long after = claimBehind(cursorOfAFullClaim());
    assertThat(after)
        .as("%d before; the index has one level more now", before)
        .isLessThan(before + MANY / 3);
  }

  @Test
  void aClaimOfARelayAtWorkAfterManyParkedAndPromoted() throws Exception {
    post.send(250, "orders", null);
    long before = claimBehind(cursorOfAFullClaim());
    post.database.execute(
        """
        select count(postrider.enqueue('shop', 'orders', '{}', not_before => now() + interval '1 h'))
          from generate_series(1, %d)
        """
            .formatted(MANY));
    post.letTimePass();
    post.database.execute(DELIVER);
    assertThat(post.database.count("select count(*) from postrider.queue")).isZero();
    post.send(250, "orders", null);
    long after = claimBehind(cursorOfAFullClaim());
    assertThat(after).as("%d before", before).isLessThan(before + 100);
  }

  /** The exception: it reads the messages of that key. Claims of other topics do not. */
  @Test
  void aClaimOfABusyKeyReadsLessThanAPageForEachMessageThatWasDelivered() throws Exception {
    jam.run("orders", "k", 250);
    jam.run("bills", "other", 1);
    long before = claimBehind(cursorOfAFullClaim());
    long otherBefore = idleClaim(2);
    jam.run("orders", "k", MANY);
    post.database.execute(DELIVER);
    jam.run("orders", "k", 250);
    assertThat(claimBehind(cursorOfAFullClaim())).as("%d before", before).isLessThan(before + MANY);
    assertThat(idleClaim(2)).as("%d before", otherBefore).isLessThan(otherBefore + 100);
  }

  /** A relay that found nothing rests for nine times as long as it took. */
  @Test
  void anIdleRelaysClaimReadsLessThanAPageForTenMessagesThatWereDelivered() throws Exception {
    long before = idleClaim(1);
    post.send(MANY, "orders", null);
    jam.send("orders", "k", MANY);
    jam.run("orders", "k", MANY);
    post.database.execute(DELIVER);
    assertThat(idleClaim(1)).as("%d before", before).isLessThan(before + 3 * MANY / 10);
  }

  @Test
  void aReapAfterManyLeases() throws Exception {
    post.database.execute(
        """
        insert into postrider.lease (token, worker, claimed_at, until, open, ids)
        select i, 1, now(), now() + interval '1 h', 1, '{}' from generate_series(1, %d) i
        """
            .formatted(MANY));
    post.database.execute("delete from postrider.lease");
    long lowest = lowest();
    assertThat(Pages.touched(post.database, "select postrider.reap_from(" + lowest + ")"))
        .isLessThan(40);
  }

  /** Where a reaper that ran a moment ago goes on: at the lowest lease that is left. */
  private long lowest() throws SQLException {
    post.send("orders");
    try (Connection connection = post.database.transaction();
        Statement statement = connection.createStatement()) {
      statement.execute("select postrider.claim(1, 1, 1000, 60000, '{1}')");
      connection.commit();
      try (ResultSet row = statement.executeQuery("select lowest from postrider.reap_from(0)")) {
        row.next();
        return row.getLong(1);
      }
    }
  }
}
