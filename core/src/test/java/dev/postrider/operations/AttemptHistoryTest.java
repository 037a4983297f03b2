package dev.postrider.operations;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static dev.postrider.testing.Postbox.ids;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Message;
import dev.postrider.message.MessageState;
import dev.postrider.testing.Postbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AttemptHistoryTest {
  private static final String CLAIM =
      "select * from postrider.claim(postrider.worker_id('ann'), 10, 1000000, 60000, array[1])";

  private final Postbox post = new Postbox(18);
  private final LeaseStore ann = post.worker("ann");

  @AfterEach
  void nothingIsLostOrStuck() {
    post.check();
  }

  @Test
  @Tag("PO-4")
  void everyAttemptIsKeptWithItsOutcome() {
    UUID id = post.send("orders");
    ann.claim(NAMESPACE, 1, MINUTE);
    ann.failRetry(id, "busy", Instant.EPOCH);
    ann.claim(NAMESPACE, 1, MINUTE);
    assertThat(post.attempts(id)).containsExactly("RETRYABLE", "DISPATCHING");
    post.lapse();
    ann.claim(NAMESPACE, 1, MINUTE);
    ann.ackSent(id, "rail-9");
    assertThat(history(id))
        .containsExactly("1 RETRYABLE ann busy", "1 ZOMBIE_REQUEUE ann", "2 DISPATCHED ann rail-9");
    UUID dead = post.send("orders");
    ann.claim(NAMESPACE, 1, MINUTE);
    ann.markDead(dead, "no such account");
    assertThat(history(dead)).containsExactly("1 FAILED ann no such account");
  }

  @Test
  @Tag("PO-4")
  void settleKeepsCodeAndLatency() {
    post.send("orders");
    Message claimed = ann.claim(NAMESPACE, 1, MINUTE).get(0);
    post.database.execute(
        "select postrider.settle(1, array['"
            + claimed.id()
            + "'::uuid], array["
            + claimed.token()
            + "]::bigint[], array[2::smallint], array[37], array[5000], array['AB03'], array['no'])");
    assertThat(
            post.database.column(
                "select code || latency_ms || error from postrider.attempt_history"))
        .containsExactly("AB0337no");
  }

  @Test
  @Tag("PO-10")
  void reapingTwiceChangesNothingTheSecondTime() {
    List<UUID> sent = post.send(3, "orders", "k");
    ann.claim(NAMESPACE, 3, MINUTE);
    assertThat(reap()).isZero();
    post.lapse();
    assertThat(reap()).isEqualTo(3);
    assertThat(reap()).isZero();
    assertThat(sent)
        .allSatisfy(id -> assertThat(post.attempts(id)).containsExactly("ZOMBIE_REQUEUE"));
    List<Message> again = ann.claim(NAMESPACE, 3, MINUTE);
    assertThat(ids(again)).isEqualTo(sent);
    assertThat(again).extracting(Message::sequence).containsExactly(1L, 2L, 3L);
    assertThat(again).extracting(Message::attempt).containsOnly(1);
    assertThat(post.database.column("select distinct lost_leases from postrider.queue"))
        .containsExactly("1");
  }

  @Test
  @Tag("PO-5")
  void aWorkerKilledInsideItsClaimLeavesTheMessageClaimable() throws Exception {
    UUID id = post.send("orders");
    try (Connection connection = post.database.transaction();
        Statement claim = connection.createStatement()) {
      claim.execute(CLAIM);
      kill(connection);
      assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
    }
    assertThat(post.state(id)).isEqualTo("pending");
    post.check();
    assertThat(ids(ann.claim(NAMESPACE, 1, MINUTE))).containsExactly(id);
  }

  @Test
  @Tag("PO-5")
  void aWorkerKilledAfterItsClaimLeavesTheMessageDispatching() throws Exception {
    UUID id = post.send("orders");
    try (Connection connection = post.database.transaction();
        Statement claim = connection.createStatement()) {
      claim.execute(CLAIM);
      connection.commit();
      claim.execute("select postrider.settle_held(1, array['" + id + "']::uuid[], 1::smallint)");
      kill(connection);
    }
    assertThat(post.attempts(id)).containsExactly("DISPATCHING");
    post.check();
    post.lapse();
    assertThat(ids(ann.claim(NAMESPACE, 1, MINUTE))).containsExactly(id);
  }

  @Test
  @Tag("EN-6")
  void theViewShowsOnlyLegalSteps() {
    UUID id = post.send("orders");
    MessageState state = step(id, null, MessageState.PENDING);
    ann.claim(NAMESPACE, 1, MINUTE);
    state = step(id, state, MessageState.PROCESSING);
    ann.failRetry(id, "e", Instant.EPOCH);
    state = step(id, state, MessageState.PENDING);
    ann.claim(NAMESPACE, 1, MINUTE);
    state = step(id, state, MessageState.PROCESSING);
    ann.ack(id);
    state = step(id, state, MessageState.DELIVERED);
    assertThat(ann.markDead(id, "e")).isFalse();
    assertThat(ann.failRetry(id, "e", Instant.EPOCH)).isFalse();
    assertThat(post.state(id)).isEqualTo("delivered");
    assertThat(state.terminal()).isTrue();
  }

  @Test
  @Tag("EN-6")
  void theViewShowsWhenAndByWhom() {
    UUID id = post.send("orders");
    ann.claim(NAMESPACE, 1, MINUTE);
    assertThat(view(id)).isEqualTo("processing 1 ann t f t");
    ann.failRetry(id, "busy", Instant.EPOCH);
    assertThat(view(id)).isEqualTo("pending 1 f t t busy");
  }

  private String view(UUID id) {
    return post.database.value(
        """
        select concat_ws(' ', state, attempts, locked_by, locked_until is not null,
                 next_attempt_at is not null, updated_at >= created_at, last_error)
          from postrider.message_state where id = '%s'
        """
            .formatted(id));
  }

  private MessageState step(UUID id, MessageState before, MessageState expected) {
    MessageState now = ann.describe(id).orElseThrow().state();
    assertThat(now).isEqualTo(expected);
    assertThat(before == null || before.next().contains(now)).isTrue();
    return now;
  }

  private List<String> history(UUID id) {
    return post.database.column(
        "select concat_ws(' ', no, state, worker, error, reference) from postrider.attempt_history"
            + " where message_id = '"
            + id
            + "' order by no");
  }

  private long reap() {
    return post.database.count("select postrider.reap()");
  }

  /** As when a worker's machine dies: its session ends wherever it was. */
  private void kill(Connection connection) throws SQLException {
    int pid = connection.unwrap(org.postgresql.PGConnection.class).getBackendPID();
    post.database.execute("select pg_terminate_backend(" + pid + ", 10000)");
  }
}
