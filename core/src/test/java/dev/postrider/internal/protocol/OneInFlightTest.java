package dev.postrider.internal.protocol;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static dev.postrider.testing.Postbox.ids;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.deadletter.DeadLetters;
import dev.postrider.lease.LeaseStore;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.replay.ReplayJob;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Postbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Of a key only one claim holds messages, also when earlier ones are put back in front of it. */
@Tag("EN-19")
@Timeout(120)
class OneInFlightTest {
  /** Keys of which several claims hold messages, at one instant. */
  private static final String SHARED =
      """
      select key_id from postrider.queue where lease is not null
       group by key_id having key_id is not null and count(distinct lease) > 1
      """;

  private final Postbox post = new Postbox(18);
  private final LeaseStore ann = post.worker("ann");
  private final LeaseStore bob = post.worker("bob");
  private final Replay replay = new Replay(post.database.dataSource(), Schema.DEFAULT);
  private final DeadLetters dead = new DeadLetters(post.database.dataSource(), Schema.DEFAULT);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicBoolean over = new AtomicBoolean();

  @AfterEach
  void nothingIsLostOrStuck() {
    threads.shutdownNow();
    post.check();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aMessagePutBackWaitsForTheLaterOneInFlight(boolean replayed) throws Exception {
    List<UUID> sent = post.send(3, "orders", "k");
    putBackBehindTheSecond(sent, replayed);
    UUID other = post.send("orders", "other");
    assertThat(ids(bob.claim(NAMESPACE, 10, MINUTE))).containsExactly(other);
    for (int i = 0; i < 5; i++) {
      assertThat(bob.claim(NAMESPACE, 1 + i, MINUTE)).isEmpty();
    }
    ann.ack(sent.get(1));
    assertThat(ids(bob.claim(NAMESPACE, 10, MINUTE))).containsExactly(sent.get(0), sent.get(2));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void alsoWhenThatOneRenewsItsLease(boolean replayed) throws Exception {
    List<UUID> sent = post.send(2, "orders", "k");
    post.send("orders", "other");
    putBackBehindTheSecond(sent, replayed);
    ann.claim(NAMESPACE, 10, MINUTE);
    assertThat(ann.renewLease(sent.get(1), MINUTE)).isTrue();
    assertThat(bob.claim(NAMESPACE, 10, MINUTE)).isEmpty();
    ann.ack(sent.get(1));
    assertThat(ids(bob.claim(NAMESPACE, 10, MINUTE))).containsExactly(sent.get(0));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void andComesBeforeItIfThatOneFails(boolean replayed) throws Exception {
    List<UUID> sent = post.send(3, "orders", "k");
    putBackBehindTheSecond(sent, replayed);
    ann.nack(sent.get(1), "e");
    assertThat(ids(bob.claim(NAMESPACE, 10, MINUTE))).containsExactly(sent.get(0));
    post.letTimePass();
    assertThat(ann.claim(NAMESPACE, 10, MINUTE)).isEmpty();
    bob.ack(sent.get(0));
    assertThat(ids(ann.claim(NAMESPACE, 10, MINUTE))).containsExactly(sent.get(1), sent.get(2));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void orItsLeaseRunsOut(boolean replayed) throws Exception {
    List<UUID> sent = post.send(3, "orders", "k");
    putBackBehindTheSecond(sent, replayed);
    post.lapse();
    assertThat(ids(bob.claim(NAMESPACE, 10, MINUTE))).isEqualTo(sent);
  }

  /** Ann holds the second one; the first was delivered or dead, and is put back. */
  private void putBackBehindTheSecond(List<UUID> sent, boolean replayed) throws SQLException {
    UUID first = ids(ann.claim(NAMESPACE, 1, MINUTE)).get(0);
    assertThat(first).isEqualTo(sent.get(0));
    if (replayed) {
      ann.ack(first);
    } else {
      ann.markDead(first, "e");
    }
    claimOne(sent.get(1));
    if (replayed) {
      assertThat(replayAll(ReplayFilter.ids(List.of(first))).requeued()).isEqualTo(1);
    } else {
      assertThat(dead.requeue("ann", first)).isTrue();
    }
  }

  private void claimOne(UUID id) {
    for (int i = 0; i < 3; i++) {
      List<UUID> claimed = ids(ann.claim(NAMESPACE, 1, MINUTE));
      if (claimed.contains(id)) {
        return;
      }
    }
    throw new AssertionError("not claimed: " + id);
  }

  private ReplayJob replayAll(ReplayFilter filter) throws SQLException {
    ReplayJob job = replay.start("ann", filter);
    return replay.run("ann", job.id(), Pacer.unlimited(), step -> true);
  }

  @Test
  void withSeveralWorkersReplaysAndRequeues() throws Exception {
    for (int key = 0; key < 10; key++) {
      post.send(60, "orders", "k" + key);
    }
    List<Future<?>> workers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      workers.add(threads.submit(worker(i)));
    }
    Future<?> observer = threads.submit(this::observe);
    long putBack = 0;
    Random random = new Random(7);
    for (int i = 0; i < 25; i++) {
      String key = "k" + random.nextInt(10);
      putBack += replayAll(ReplayFilter.key(NAMESPACE, key)).requeued();
      post.database.execute("select postrider.requeue_dead('ann', '{}', null, 50)");
    }
    over.set(true);
    for (Future<?> each : workers) {
      each.get();
    }
    observer.get();
    assertThat(putBack).isPositive();
    assertThat(post.database.count("select count(*) from postrider.lease")).isZero();
  }

  private Callable<Void> worker(int number) {
    return () -> {
      try (Connection connection = post.database.dataSource().getConnection()) {
        int id = (int) post.database.count("select postrider.worker_id('w" + number + "')");
        ModelWorker worker = new ModelWorker(connection, new Random(number), id, sent -> {});
        while (!over.get() || leftToDo()) {
          worker.turn();
        }
      }
      return null;
    };
  }

  private boolean leftToDo() {
    return post.database.count("select count(*) from postrider.queue where not blocked") > 0
        && post.database.count(
                """
                select count(*) from postrider.queue q
                 where not blocked and not exists (
                   select from postrider.queue f where f.key_id = q.key_id and f.blocked)
                """)
            > 0;
  }

  private Void observe() {
    while (!over.get()) {
      assertThat(post.database.column(SHARED)).isEmpty();
      assertThat(post.violations()).isEmpty();
      post.letTimePass();
    }
    return null;
  }
}
