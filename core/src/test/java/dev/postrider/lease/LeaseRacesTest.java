package dev.postrider.lease;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static dev.postrider.testing.Postbox.ids;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testing.Postbox;
import dev.postrider.testrules.NoSecondChance;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two or more connections at once, each race brought about on purpose where that can be done. */
@Timeout(60)
@NoSecondChance
class LeaseRacesTest {
  private final Postbox post = new Postbox(version());
  private final LeaseStore ann = post.worker("ann");
  private final ExecutorService threads = Executors.newCachedThreadPool();

  int version() {
    return 18;
  }

  @AfterEach
  void nothingIsLostOrStuck() {
    threads.shutdownNow();
    post.check();
  }

  @Test
  @Tag("MC-3")
  @Tag("EN-8")
  void manyWorkersNeverShareAMessage() throws Exception {
    for (int key = 0; key < 20; key++) {
      post.send(50, "orders", "key-" + key);
    }
    post.send(1000, "bills", null);
    List<Callable<List<UUID>>> workers = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      LeaseStore worker = post.worker("worker-" + i);
      workers.add(() -> drain(worker));
    }
    List<UUID> all = new ArrayList<>();
    for (Future<List<UUID>> taken : threads.invokeAll(workers)) {
      all.addAll(taken.get());
    }
    assertThat(all).hasSize(2000);
    assertThat(new HashSet<>(all)).hasSize(2000);
  }

  /** Claims and acks until nothing is left; others hold lanes for moments. */
  private List<UUID> drain(LeaseStore worker) {
    List<UUID> taken = new ArrayList<>();
    while (post.database.count("select count(*) from postrider.queue") > 0) {
      List<UUID> batch = ids(worker.claim(NAMESPACE, 23, MINUTE));
      assertThat(worker.ackSent(batch)).isEmpty();
      taken.addAll(batch);
    }
    return taken;
  }

  @Test
  @Tag("LP-4")
  void aRenewalWaitingForAnAckOfTheSameMessageIsRefused() throws Exception {
    List<UUID> sent = post.send(3, "orders", null);
    ann.claim(NAMESPACE, 3, MINUTE);
    try (Connection acking = post.database.transaction()) {
      settle(acking, sent.get(0));
      Future<Boolean> renewed = threads.submit(() -> ann.renewLease(sent.get(0), MINUTE));
      awaitBlocked(1);
      acking.commit();
      assertThat(renewed.get()).isFalse();
    }
    post.check();
    assertThat(ann.ackSent(sent.subList(1, 3))).isEmpty();
  }

  @Test
  @Tag("LP-2")
  void anAckWaitingForARenewalOfTheSameMessageHolds() throws Exception {
    List<UUID> sent = post.send(2, "orders", null);
    ann.claim(NAMESPACE, 2, MINUTE);
    try (Connection renewing = post.database.transaction();
        PreparedStatement renew =
            renewing.prepareStatement("select postrider.renew_held(1, ?, 60000)")) {
      renew.setObject(1, sent.get(0));
      renew.execute();
      Future<Boolean> acked = threads.submit(() -> ann.ack(sent.get(0)));
      awaitBlocked(1);
      renewing.commit();
      assertThat(acked.get()).isTrue();
    }
  }

  @Test
  @Tag("PO-13")
  void aSettlementThatMeetsTheReaperIsRefused() throws Exception {
    UUID id = post.send("orders");
    ann.claim(NAMESPACE, 1, MINUTE);
    post.lapse();
    try (Connection reaping = post.database.transaction();
        Statement reap = reaping.createStatement()) {
      reap.execute("select postrider.reap()");
      Future<Boolean> acked = threads.submit(() -> ann.ack(id));
      awaitBlocked(1);
      reaping.commit();
      assertThat(acked.get()).isFalse();
    }
    assertThat(post.attempts(id)).containsExactlyInAnyOrder("ZOMBIE_REQUEUE", "CONFLICT");
  }

  @Test
  void equalContentsDeliveredCrosswiseDoNotDeadlock() throws Exception {
    List<UUID> up = claimAfterSending(2000);
    List<UUID> down = new ArrayList<>(claimAfterSending(2000));
    Collections.reverse(down);
    CyclicBarrier together = new CyclicBarrier(2);
    List<Callable<Void>> settlers = List.of(settler(together, up), settler(together, down));
    for (Future<Void> done : threads.invokeAll(settlers)) {
      done.get();
    }
    assertThat(post.database.count("select count(*) from postrider.delivered_content"))
        .isEqualTo(2000);
  }

  private List<UUID> claimAfterSending(int count) {
    post.send(count, "orders", null);
    return ids(ann.claim(NAMESPACE, count, MINUTE));
  }

  private Callable<Void> settler(CyclicBarrier together, List<UUID> ids) {
    return () -> {
      try (Connection connection = post.database.transaction()) {
        together.await();
        settle(connection, ids.toArray(UUID[]::new));
        connection.commit();
      }
      return null;
    };
  }

  private static void settle(Connection connection, UUID... ids) throws Exception {
    try (PreparedStatement settle =
        connection.prepareStatement(
            "select cardinality(postrider.settle_held(1, ?, 1::smallint, null, null, null, 'r'))")) {
      settle.setArray(1, connection.createArrayOf("uuid", ids));
      settle.execute();
    }
  }

  private void awaitBlocked(int count) {
    Awaitility.await()
        .until(
            () ->
                post.database.count(
                        """
                        select count(*) from pg_stat_activity
                         where datname = current_database() and wait_event_type = 'Lock'
                        """)
                    == count);
  }
}
