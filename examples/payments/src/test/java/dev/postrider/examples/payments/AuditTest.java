package dev.postrider.examples.payments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.examples.stage.ChildProcess;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the audit proves after a crash, and that it would find what is wrong. */
class AuditTest {
  @AutoClose private final Bureau bureau = new Bureau();

  @Test
  @Tag("PO-10")
  @Tag("PO-5")
  @Tag("PO-1")
  @Tag("PO-2")
  @Tag("PO-3")
  void aRelayThatIsKilledWhilePayingIsTakenOverAndEverythingIsPaidOnce() throws Exception {
    List<String> paid = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      paid.add(bureau.pay("p" + i % 4, Rail.SEPA));
    }
    try (ChildProcess relay = ChildProcess.start(DoomedRelay.class, bureau.database.jdbcUrl());
        Connection connection = bureau.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("lock table rails.booking in share mode");
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> bureau.database.count(WAITING_FOR_THE_BOOKS) > 0);
      relay.kill(); // the bank still books what it was asked to, and nobody hears of it
      assertThat(visible()).as("claimable, or visibly being dispatched").isEqualTo(20);
    }
    bureau.start();
    for (String id : paid) {
      bureau.until(id, "delivered");
    }
    assertThat(bureau.database.column(ZOMBIES)).as("taken over").isNotEmpty();
    assertThat(bureau.database.count("select count(*) from rails.booking")).isEqualTo(20);
    assertThat(bureau.database.count("select count(*) from postrider.queue")).isZero();
    assertThat(bureau.findings()).isEmpty();
  }

  private static final String WAITING_FOR_THE_BOOKS =
      "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
          + " and query like 'insert into rails.booking%'";
  private static final String ZOMBIES =
      "select message_id from postrider.attempt_history where state = 'ZOMBIE_REQUEUE'";

  private long visible() {
    return bureau.database.count(
        """
        select count(*) from postrider.message_state s
         where state = 'pending' or state = 'processing' and exists (
           select from postrider.attempt_history a
            where a.message_id = s.id and a.state = 'DISPATCHING' and a.worker like 'doomed%')
        """);
  }

  @Test
  @Tag("PO-1")
  @Tag("PO-2")
  void itFindsWhatMustNotBe() throws Exception {
    bureau.start();
    for (int i = 0; i < 3; i++) {
      bureau.until(bureau.pay("ann", Rail.SEPA), "delivered");
    }
    assertThat(bureau.findings()).isEmpty();
    assertFound(
        "update rails.booking set sequence = 4 - sequence",
        "booked before an earlier one of its participant",
        "booked before an earlier one of its participant");
    assertFound(
        "delete from rails.booking where sequence = 2", "delivered, but not in the rail's books");
    assertFound(
        "delete from payments.instruction where id = 'i1'", "message without an instruction");
    assertFound(
        "update postrider.message set sequence = 9 where sequence = 2",
        "sequence has a gap or a double");
    assertFound(
        "update postrider.message set aggregate_id = 'i1' where sequence = 2",
        "instruction without exactly one message",
        "instruction without exactly one message");
    assertFound(
        "insert into postrider.attempt select * from postrider.attempt limit 1",
        "delivered without exactly one success");
    assertFound(
        "insert into postrider.dead_letter (message_id, delivery, route, attempts, died_at)"
            + " select id, 1, route, 1, now() from postrider.message where sequence = 2",
        "given up, but in the rail's books",
        "success that is not delivered");
  }

  /** What the audit sees in a transaction that is then rolled back. */
  private void assertFound(String tampering, String... findings) throws Exception {
    List<String> found = new ArrayList<>();
    try (Connection connection = bureau.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("set local session_replication_role = replica");
      assertThat(statement.executeUpdate(tampering)).isPositive();
      var rows = statement.executeQuery("select finding from payments.audit order by 1");
      while (rows.next()) {
        found.add(rows.getString(1));
      }
    }
    assertThat(found).as(tampering).containsExactly(findings);
  }
}
