package dev.postrider.lease;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static dev.postrider.testing.Postbox.ids;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.Message;
import dev.postrider.message.MessageState;
import dev.postrider.message.PostriderException;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Postbox;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LeaseStoreTest {
  private final Postbox post = new Postbox(version());
  private final LeaseStore ann = post.worker("ann");
  private final LeaseStore bob = post.worker("bob");

  int version() {
    return 18;
  }

  @AfterEach
  void nothingIsLostOrStuck() {
    post.check();
  }

  @Test
  @Tag("MC-3")
  void aClaimTakesTheOldestFirstAndMarksThem() {
    List<UUID> sent = post.send(5, "orders", null);
    List<Message> claimed = ann.claim(NAMESPACE, 3, MINUTE);
    assertThat(ids(claimed)).isEqualTo(sent.subList(0, 3));
    CurrentState found = ann.describe(sent.get(0)).orElseThrow();
    assertThat(found.state()).isEqualTo(MessageState.PROCESSING);
    assertThat(found.attempts()).isEqualTo(1);
    assertThat(found.lockedBy()).isEqualTo("ann");
    assertThat(found.lockedUntil()).isAfter(claimed.get(0).createdAt());
    assertThat(ids(bob.claim(NAMESPACE, 10, MINUTE))).isEqualTo(sent.subList(3, 5));
  }

  @Test
  void aLoopThatClaimsIsSeenOnceAMinuteAndComesBackIfItWasForgotten() {
    AtomicLong clock = new AtomicLong();
    LeaseStore loop =
        new LeaseStore(
            post.database.dataSource(), Schema.DEFAULT, "loop", LeaseOptions.DEFAULT, clock::get);
    loop.claim(NAMESPACE, 1, MINUTE);
    String old = "update postrider.worker set seen_at = now() - interval '1 h' where name = 'loop'";
    String recent =
        "select count(*) from postrider.worker where name = 'loop' and seen_at > now() - interval '1 min'";
    post.database.execute(old);
    loop.claim(NAMESPACE, 1, MINUTE);
    assertThat(post.database.count(recent)).as("not at every claim").isZero();
    clock.addAndGet(MINUTE.toNanos() + 1);
    loop.claim(NAMESPACE, 1, MINUTE);
    assertThat(post.database.count(recent)).isOne();
    post.database.execute("delete from postrider.worker where name = 'loop'");
    clock.addAndGet(MINUTE.toNanos() + 1);
    loop.claim(NAMESPACE, 1, MINUTE);
    assertThat(post.database.count(recent)).isOne();
  }

  @Test
  @Tag("MC-3")
  void whatIsNotDueIsNotClaimed() {
    UUID id = post.send("orders");
    ann.claim(NAMESPACE, 1, MINUTE);
    ann.failRetry(id, "later", Instant.parse("2100-01-01T00:00:00Z"));
    assertThat(bob.claim(NAMESPACE, 1, MINUTE)).isEmpty();
    post.letTimePass();
    assertThat(ids(bob.claim(NAMESPACE, 1, MINUTE))).containsExactly(id);
  }

  @Test
  @Tag("LP-1")
  void aClaimedMessageCarriesAllThatWasSent() {
    post.database.execute(
        """
        select postrider.enqueue('shop', 'orders', '{"a": 1}', key => 'k', dedupe_key => 'd',
          tenant => 't', aggregate_type => 'order', aggregate_id => '7', event_type => 'paid',
          headers => '{"h": "v"}')
        """);
    Message message = ann.claim(NAMESPACE, 1, MINUTE).get(0);
    assertThat(message.text()).isEqualTo("{\"a\": 1}");
    assertThat(message.headers()).containsEntry("h", "v");
    assertThat(message)
        .extracting(Message::key, Message::dedupeKey, Message::tenant, Message::eventType)
        .containsExactly("k", "d", "t", "paid");
    assertThat(message)
        .extracting(Message::route, Message::sequence, Message::attempt, Message::contentType)
        .containsExactly(new Route("shop", "orders"), 1L, 1, Message.JSON);
  }

  @Test
  @Tag("LP-1")
  void aClaimForGivenTopicsLeavesTheOthers() {
    post.send("orders");
    UUID bill = post.send("bills");
    assertThat(ids(ann.claim(List.of(new Route(NAMESPACE, "bills")), 10, MINUTE)))
        .containsExactly(bill);
    assertThat(ann.claim("other", 10, MINUTE)).isEmpty();
    assertThat(ann.claim(List.of(), 10, MINUTE)).isEmpty();
  }

  @Test
  @Tag("LP-1")
  void aClaimKeepsToItsBytes() {
    List<UUID> sent = post.send(3, "orders", null);
    LeaseStore small = post.worker("small", LeaseOptions.DEFAULT.withMaxBytes(20));
    assertThat(ids(small.claim(NAMESPACE, 10, MINUTE))).isEqualTo(sent.subList(0, 2));
  }

  @Test
  @Tag("MC-4")
  void onlyTheHolderAcks() {
    UUID id = claimedBy(ann);
    assertThat(bob.ack(id)).isFalse();
    assertThat(post.state(id)).isEqualTo("processing");
    assertThat(ann.ack(id)).isTrue();
    assertThat(post.state(id)).isEqualTo("delivered");
    assertThat(ann.ack(id)).isFalse();
    post.lapse();
    assertThat(bob.claim(NAMESPACE, 1, MINUTE)).isEmpty();
  }

  @Test
  @Tag("MC-5")
  void aNackKeepsTheErrorAndWaitsAsTheBackoffSays() {
    UUID id = claimedBy(ann);
    assertThat(bob.nack(id, "not mine")).isFalse();
    assertThat(ann.nack(id, "refused")).isTrue();
    CurrentState found = ann.describe(id).orElseThrow();
    assertThat(found.state()).isEqualTo(MessageState.PENDING);
    assertThat(found.lastError()).isEqualTo("refused");
    assertThat(found.lockedBy()).isNull();
    assertThat(secondsToWait(id)).isBetween(120 * 0.7 - 5, 120 * 1.3);
  }

  @Test
  @Tag("MC-5")
  void pastMaxAttemptsANackIsTheEnd() {
    LeaseStore twice =
        post.worker(
            "twice", LeaseOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withMaxAttempts(2)));
    UUID id = claimedBy(twice);
    twice.nack(id, "once");
    post.letTimePass();
    twice.claim(NAMESPACE, 1, MINUTE);
    assertThat(twice.nack(id, "twice")).isTrue();
    assertThat(post.state(id)).isEqualTo("dead");
    post.letTimePass();
    assertThat(twice.claim(NAMESPACE, 1, MINUTE)).isEmpty();
  }

  @Test
  @Tag("MC-6")
  @Tag("PO-13")
  void aLapsedLeaseIsTakenOverAndTheLateResultChangesNothing() {
    UUID id = claimedBy(ann);
    post.lapse();
    assertThat(ids(bob.claim(NAMESPACE, 1, MINUTE))).containsExactly(id);
    assertThat(ann.ackSent(id, "rail-1")).isFalse();
    assertThat(ann.failRetry(id, "late", Instant.EPOCH)).isFalse();
    assertThat(ann.markDead(id, "late")).isFalse();
    assertThat(ann.renewLease(id, MINUTE)).isFalse();
    assertThat(ann.release(List.of(id))).containsExactly(id);
    assertThat(ann.describe(id).orElseThrow().lockedBy()).isEqualTo("bob");
    assertThat(bob.ack(id)).isTrue();
  }

  @Test
  @Tag("LP-2")
  void nobodyHoldsWhatWasNeverClaimed() {
    UUID id = post.send("orders");
    assertThat(ann.ackSent(id, null)).isFalse();
    assertThat(ann.failRetry(id, "e", Instant.EPOCH)).isFalse();
    assertThat(ann.markDead(id, "e")).isFalse();
    assertThat(ann.renewLease(id, MINUTE)).isFalse();
    assertThat(ann.ack(UUID.randomUUID())).isFalse();
    assertThat(post.state(id)).isEqualTo("pending");
    assertThat(ann.describe(id).orElseThrow().attempts()).isZero();
  }

  @Test
  @Tag("LP-2")
  void aBatchOfAcksSaysWhichWereRefused() {
    List<UUID> sent = post.send(3, "orders", null);
    ann.claim(NAMESPACE, 2, MINUTE);
    assertThat(ann.ackSent(sent)).containsExactly(sent.get(2));
    assertThat(ann.ackSent(Set.of())).isEmpty();
    assertThat(sent).extracting(post::state).containsExactly("delivered", "delivered", "pending");
  }

  @Test
  @Tag("LP-3")
  @Tag("EN-9")
  void theNextAttemptIsWhenTheCallerSays() {
    UUID id = claimedBy(ann);
    Instant far = Instant.parse("2099-12-31T23:59:59.123456Z");
    assertThat(ann.failRetry(id, "e", far)).isTrue();
    assertThat(ann.describe(id).orElseThrow().nextAttemptAt()).isEqualTo(far);
    post.letTimePass();
    ann.claim(NAMESPACE, 1, MINUTE);
    assertThat(ann.failRetry(id, "e", Instant.EPOCH)).isTrue();
    assertThat(ann.describe(id).orElseThrow().nextAttemptAt()).isEqualTo(Instant.EPOCH);
    assertThat(ids(ann.claim(NAMESPACE, 1, MINUTE))).containsExactly(id);
    assertThatThrownBy(() -> ann.failRetry(id, "e", Instant.MAX))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("nextAttemptAt must lie before");
  }

  @Test
  @Tag("LP-4")
  void aLeaseIsRenewedAnyNumberOfTimesButNotItsNeighbours() {
    List<UUID> sent = post.send(3, "orders", null);
    ann.claim(NAMESPACE, 3, MINUTE);
    for (int i = 0; i < 3; i++) {
      assertThat(ann.renewLease(sent.get(0), Duration.ofHours(i + 1))).isTrue();
      post.check();
    }
    post.database.execute(
        "update postrider.lease set until = now() where until < now() + interval '2 min'");
    assertThat(ids(bob.claim(NAMESPACE, 3, MINUTE))).isEqualTo(sent.subList(1, 3));
    assertThat(ann.renewLease(sent.get(1), MINUTE)).isFalse();
    assertThat(ann.ack(sent.get(0))).isTrue();
  }

  @Test
  @Tag("LP-4")
  void aLapsedLeaseThatNobodyTookIsStillHeld() {
    UUID id = claimedBy(ann);
    post.lapse();
    assertThat(ann.renewLease(id, MINUTE)).isTrue();
    assertThat(bob.claim(NAMESPACE, 1, MINUTE)).isEmpty();
  }

  @Test
  @Tag("LP-5")
  void theSameContentForTheSameTargetIsFoundWithItsReference() throws Exception {
    Route orders = new Route(NAMESPACE, "orders");
    UUID first = claimedBy(ann);
    Message second = claimedAgain();
    byte[] sha = MessageDigest.getInstance("SHA-256").digest(second.payload());
    assertThat(ann.checkDedup(orders, sha)).isEmpty();
    ann.ackSent(first, "memory-7");
    assertThat(ann.checkDedup(orders, sha)).contains(new LeaseStore.Earlier(first, "memory-7"));
    assertThat(ann.checkDedup(new Route(NAMESPACE, "bills"), sha)).isEmpty();
    assertThat(ann.ackSent(second.id(), "memory-7")).isTrue();
    assertThat(ann.checkDedup(orders, sha).orElseThrow().id()).isEqualTo(first);
  }

  @Test
  @Tag("LP-6")
  @Tag("PO-13")
  void aConflictIsRecordedWithWhoWhatAndTheStateFound() {
    UUID id = claimedBy(ann);
    post.lapse();
    bob.claim(NAMESPACE, 1, MINUTE);
    ann.ackSent(id, "rail-1");
    ann.renewLease(id, MINUTE);
    bob.ack(id);
    ann.markDead(id, "too late");
    assertThat(
            post.database.column(
                """
                select concat_ws(' / ', worker, code, error, reference)
                  from postrider.attempt_history where state = 'CONFLICT' order by finished_at
                """))
        .containsExactly(
            "ann / delivered / found processing, held by bob / rail-1",
            "ann / renew / found processing, held by bob",
            "ann / dead / found delivered; reported: too late");
  }

  @Test
  void releasedMessagesAreAsIfNeverClaimed() {
    UUID id = claimedBy(ann);
    assertThat(ann.release(List.of(id))).isEmpty();
    assertThat(ann.describe(id).orElseThrow().attempts()).isZero();
    assertThat(ids(bob.claim(NAMESPACE, 1, MINUTE))).containsExactly(id);
  }

  @Test
  void aCallOutOfRangeSaysWhatWasExpected() {
    assertThatThrownBy(() -> ann.claim(NAMESPACE, 0, MINUTE)).hasMessageContaining("at least 1");
    assertThatThrownBy(() -> ann.claim(NAMESPACE, 1, Duration.ZERO))
        .hasMessageContaining("between 1 ms and 7 days");
    assertThatThrownBy(() -> LeaseOptions.DEFAULT.withTimeout(Duration.ZERO))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("timeout must lie between 1 s and 1 h");
  }

  @Test
  void attemptsStopCountingInsteadOfOverflowing() {
    UUID id = post.send("orders");
    post.database.execute("update postrider.queue set attempts = 32767");
    assertThat(ann.claim(NAMESPACE, 1, MINUTE).get(0).attempt()).isEqualTo(32767);
    assertThat(ann.failRetry(id, "e", Instant.EPOCH)).isTrue();
  }

  private UUID claimedBy(LeaseStore worker) {
    post.send("orders");
    return worker.claim(NAMESPACE, 1, MINUTE).get(0).id();
  }

  private Message claimedAgain() {
    post.send("orders");
    return ann.claim(NAMESPACE, 1, MINUTE).get(0);
  }

  private double secondsToWait(UUID id) {
    return Double.parseDouble(
        post.database.value(
            "select extract(epoch from next_attempt_at - now()) from postrider.message_state"
                + " where id = '"
                + id
                + "'"));
  }
}
