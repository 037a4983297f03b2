package dev.postrider.internal.protocol;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static dev.postrider.testing.Postbox.ids;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.lease.LeaseOptions;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Message;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.message.Route;
import dev.postrider.testing.Postbox;
import dev.postrider.testrules.NoSecondChance;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@NoSecondChance
class KeyOrderTest {
  private static final Instant FAR = Instant.parse("2100-01-01T00:00:00Z");

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
  @Tag("PO-6")
  void aRunComesInItsOrderToOneWorker() {
    List<UUID> sent = post.send(20, "orders", "k");
    assertThat(ids(ann.claim(NAMESPACE, 5, MINUTE))).isEqualTo(sent.subList(0, 5));
    assertThat(bob.claim(NAMESPACE, 5, MINUTE)).isEmpty();
    ann.ackSent(sent.subList(0, 4));
    assertThat(bob.claim(NAMESPACE, 5, MINUTE)).isEmpty();
    ann.ack(sent.get(4));
    assertThat(ids(bob.claim(NAMESPACE, 5, MINUTE))).isEqualTo(sent.subList(5, 10));
  }

  @Test
  @Tag("PO-6")
  void aRetriedHeadHoldsItsFollowersAndComesFirstAgain() {
    List<UUID> sent = post.send(3, "orders", "k");
    ann.claim(NAMESPACE, 3, MINUTE);
    ann.failRetry(sent.get(0), "e", FAR);
    ann.release(sent.subList(1, 3));
    assertThat(bob.claim(NAMESPACE, 3, MINUTE)).isEmpty();
    post.letTimePass();
    assertThat(ids(bob.claim(NAMESPACE, 3, MINUTE))).isEqualTo(sent);
  }

  @Test
  @Tag("PO-6")
  void followersOfALapsedHeadWaitForItToBeTakenAgain() {
    List<UUID> sent = post.send(2, "orders", "k");
    ann.claim(NAMESPACE, 2, MINUTE);
    ann.release(List.of(sent.get(1)));
    assertThat(bob.claim(NAMESPACE, 2, MINUTE)).isEmpty();
    post.lapse();
    assertThat(ids(bob.claim(NAMESPACE, 2, MINUTE))).isEqualTo(sent);
  }

  @Test
  @Tag("PO-6")
  void aDeadHeadIsSkipped() {
    List<UUID> sent = post.send(2, "orders", "k");
    ann.claim(NAMESPACE, 2, MINUTE);
    ann.markDead(sent.get(0), "e");
    ann.release(List.of(sent.get(1)));
    assertThat(post.state(sent.get(0))).isEqualTo("dead");
    assertThat(ids(bob.claim(NAMESPACE, 2, MINUTE))).containsExactly(sent.get(1));
  }

  @Test
  @Tag("PO-6")
  void aDeadHeadBlocksItsKeyAndNoOther() {
    LeaseStore strict =
        post.worker(
            "strict",
            LeaseOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withOnDead(DeadPolicy.BLOCK)));
    List<UUID> sent = post.send(3, "orders", "k");
    strict.claim(NAMESPACE, 3, MINUTE);
    strict.markDead(sent.get(0), "e");
    strict.release(sent.subList(1, 3));
    UUID other = post.send("orders", "other");
    assertThat(ids(bob.claim(NAMESPACE, 10, MINUTE))).containsExactly(other);
    assertThat(sent).extracting(post::state).containsExactly("dead", "pending", "pending");
    post.letTimePass();
    assertThat(bob.claim(NAMESPACE, 10, MINUTE)).isEmpty();
  }

  @Test
  @Tag("PO-6")
  void withoutAKeyADeadMessageBlocksNothingAndLeavesTheQueue() {
    LeaseStore strict =
        post.worker(
            "strict",
            LeaseOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withOnDead(DeadPolicy.BLOCK)));
    UUID id = post.send("orders");
    strict.claim(NAMESPACE, 1, MINUTE);
    strict.markDead(id, "e");
    assertThat(post.state(id)).isEqualTo("dead");
    assertThat(post.database.count("select count(*) from postrider.queue")).isZero();
  }

  @Test
  @Tag("PO-6")
  void topicsThatShareAKeyShareItsOrder() {
    List<UUID> sent = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      sent.add(post.send(i % 2 == 0 ? "orders" : "bills", "k"));
    }
    assertThat(ids(ann.claim(NAMESPACE, 10, MINUTE))).isEqualTo(sent);
  }

  @Test
  @Tag("PO-6")
  void aKeyWaitsWhileItsNextMessageIsOfATopicNotServed() {
    List<Route> bills = List.of(new Route(NAMESPACE, "bills"));
    UUID order = post.send("orders", "k");
    List<UUID> waiting = post.send(30, "bills", "k");
    UUID other = post.send("bills", "other");
    for (int i = 0; i < 40; i++) {
      assertThat(ids(ann.claim(bills, 1, MINUTE))).isNotEqualTo(waiting.subList(0, 1));
    }
    assertThat(post.state(other)).isEqualTo("processing");
    assertThat(ids(bob.claim(NAMESPACE, 1, MINUTE))).containsExactly(order);
    bob.ack(order);
    assertThat(ids(ann.claim(bills, 30, MINUTE))).isEqualTo(waiting);
  }

  @Test
  @Tag("PO-6")
  @Tag("EN-16")
  void whatWaitsBehindAMessageInBackoffIsHiddenAndComesBackInOrder() {
    Map<String, List<UUID>> sent = new HashMap<>();
    for (int key = 0; key < 50; key++) {
      sent.put("key-" + key, post.send(100, "orders", "key-" + key));
    }
    List<UUID> firsts = sent.values().stream().map(ids -> ids.get(0)).toList();
    List<UUID> taken = new ArrayList<>(ids(ann.claim(NAMESPACE, 5000, MINUTE)));
    assertThat(taken).containsAll(firsts);
    firsts.forEach(id -> ann.failRetry(id, "e", FAR));
    taken.removeAll(firsts);
    ann.release(taken);
    for (int i = 0; i < 6; i++) {
      assertThat(ann.claim(NAMESPACE, 400, MINUTE)).isEmpty();
    }
    assertThat(hidden()).isGreaterThan(50 * 60); // of few keys nothing is hidden any more
    UUID other = post.send("orders", "other");
    assertThat(ids(ann.claim(NAMESPACE, 1, MINUTE))).containsExactly(other);
    post.check();
    post.letTimePass();
    Map<String, List<UUID>> delivered = new HashMap<>();
    for (List<Message> batch = ann.claim(NAMESPACE, 400, MINUTE);
        !batch.isEmpty();
        batch = ann.claim(NAMESPACE, 400, MINUTE)) {
      batch.forEach(
          c ->
              delivered
                  .computeIfAbsent(String.valueOf(c.key()), k -> new ArrayList<>())
                  .add(c.id()));
      assertThat(ann.ackSent(ids(batch))).isEmpty();
      post.check();
    }
    assertThat(delivered).isEqualTo(sent);
    assertThat(hidden()).isZero();
  }

  private long hidden() {
    return post.database.count("select count(*) from postrider.queue where due_at = 'infinity'");
  }
}
