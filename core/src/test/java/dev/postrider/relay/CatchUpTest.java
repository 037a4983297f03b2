package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.error.RefusedException;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import dev.postrider.operations.Subscriptions;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayJob;
import dev.postrider.schema.Schema;
import dev.postrider.testrules.NoSecondChance;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A subscription that begins in the past. */
@Tag("EN-23")
@Timeout(180)
@NoSecondChance
class CatchUpTest {
  private static final Route MAIL = new Route("shop", "orders", "mail");
  private static final int KEYS = 7;

  @AutoClose private final Post post = new Post();
  private final Map<String, List<Message>> arrived = new ConcurrentHashMap<>();
  private final Subscriptions subscriptions =
      new Subscriptions(post.database.dataSource(), Schema.DEFAULT);
  private final Replay replay = new Replay(post.database.dataSource(), Schema.DEFAULT);

  private List<Message> at(String name) {
    return arrived.computeIfAbsent(name, n -> Collections.synchronizedList(new ArrayList<>()));
  }

  private List<UUID> ids(String name) {
    synchronized (at(name)) {
      return at(name).stream().map(Message::id).toList();
    }
  }

  private List<Long> sequences(String name, String key) {
    synchronized (at(name)) {
      return at(name).stream().filter(m -> key.equals(m.key())).map(Message::sequence).toList();
    }
  }

  private Destination taking(String name) {
    return HandlerDestination.inline(
        message -> {
          at(name).add(message);
          return Outcome.delivered();
        });
  }

  private void startHere() {
    post.start(post.builder().destination("here", taking("here")).route("shop", "*", "here"));
  }

  private void startMail() {
    post.start(
        post.builder()
            .destination("mail", taking("mail"))
            .subscription("shop", "orders", "mail", "mail"));
  }

  private long addFrom(Instant from) throws Exception {
    Long[] job = new Long[1];
    await()
        .ignoreExceptions() // a producer's transaction may be open for long on a busy machine
        .until(
            () -> {
              job[0] = subscriptions.add("ann", MAIL, from);
              return job[0] != null;
            });
    return job[0];
  }

  private boolean catchingUp() throws Exception {
    return subscriptions.list().stream().anyMatch(Subscriptions.Subscription::catchingUp);
  }

  @Test
  void earlierMessagesComeFirstAndNoneIsMissedOrDoubledWhileTrafficFlows() throws Exception {
    startHere();
    AtomicBoolean going = new AtomicBoolean(true);
    List<CompletableFuture<Void>> producers =
        IntStream.range(0, 4)
            .mapToObj(
                p ->
                    CompletableFuture.runAsync(
                        () -> {
                          for (int i = 0; going.get(); i++) {
                            post.send("orders", i % 8 == 7 ? null : "k" + i % 8, 2);
                          }
                        }))
            .toList();
    await().until(() -> ids("here").size() > 500);
    long job = addFrom(Instant.EPOCH);
    assertThat(catchingUp()).isTrue();
    startMail();
    int[] steps = new int[1];
    ReplayJob stopped = replay.run("ann", job, Pacer.perSecond(300), progress -> ++steps[0] < 3);
    assertThat(stopped.state()).isEqualTo(ReplayJob.State.STOPPED);
    await().until(() -> ids("mail").size() >= stopped.requeued());
    assertThat(catchingUp()).isTrue();
    int before = ids("here").size();
    await().until(() -> ids("here").size() > before + 200);
    replay.resume("ann", job);
    ReplayJob done = replay.run("ann", job, Pacer.unlimited(), progress -> true);
    assertThat(done.state()).isEqualTo(ReplayJob.State.DONE);
    assertThat(catchingUp()).isFalse();
    int after = ids("here").size();
    await().until(() -> ids("here").size() > after + 200);
    going.set(false);
    for (CompletableFuture<Void> producer : producers) {
      producer.get();
    }
    post.untilEmpty();
    assertThat(ids("mail")).doesNotHaveDuplicates();
    assertThat(new HashSet<>(ids("mail"))).isEqualTo(new HashSet<>(ids("here")));
    for (int k = 0; k < KEYS; k++) {
      List<Long> all = sequences("mail", "k" + k);
      assertThat(all)
          .as("every one, in order")
          .containsExactlyElementsOf(LongStream.rangeClosed(1, all.size()).boxed().toList());
    }
  }

  /** The pacer's clock moves only while it waits, so nothing here depends on the machine. */
  @Test
  @Tag("HE-10")
  void itNeverQueuesMoreThanItsRate() throws Exception {
    startHere();
    for (int i = 0; i < 10; i++) {
      post.send("orders", "k" + i, 100);
    }
    await().until(() -> ids("here").size() == 1_000);
    long job = addFrom(Instant.EPOCH);
    int perSecond = 100;
    AtomicLong nanos = new AtomicLong();
    List<String> bursts = new ArrayList<>();
    Pacer pacer = new Pacer(perSecond, nanos::get, time -> nanos.addAndGet(time.toNanos()));
    ReplayJob done =
        replay.run(
            "ann",
            job,
            pacer,
            progress -> {
              double most = perSecond * (nanos.get() / 1e9 + 0.5);
              if (progress.requeued() > most) {
                bursts.add(progress.requeued() + " queued, " + most + " allowed");
              }
              return true;
            });
    assertThat(bursts).isEmpty();
    assertThat(done.requeued()).isEqualTo(1_000);
    assertThat(done.state()).isEqualTo(ReplayJob.State.DONE);
    assertThat(Duration.ofNanos(nanos.get()))
        .isBetween(Duration.ofSeconds(9), Duration.ofSeconds(11));
  }

  @Test
  void whatCameBeforeTheTimeIsLeftOut() throws Exception {
    startHere();
    List<UUID> old = post.send("orders", "k", 3);
    await().until(() -> ids("here").size() == 3);
    Instant from =
        Instant.parse(
            post.database.value(
                "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"));
    await()
        .until(
            () ->
                post.database
                    .value(
                        "select clock_timestamp() > '" + from + "'::timestamptz + interval '2 ms'")
                    .equals("t"));
    List<UUID> later = post.send("orders", "k", 3);
    await().until(() -> ids("here").size() == 6);
    long job = addFrom(from);
    startMail();
    replay.run("ann", job, Pacer.unlimited(), progress -> true);
    await().until(() -> ids("mail").size() == 3);
    post.untilEmpty();
    assertThat(ids("mail")).containsExactlyElementsOf(later).doesNotContainAnyElementsOf(old);
    assertThat(subscriptions.add("ann", MAIL, from)).as("there already").isNull();
  }

  /**
   * A settlement may mark the first message of a key that waits. That one goes with the next step.
   */
  @Test
  @Timeout(60)
  void theEndOfACatchUpLeavesNothingBehindThatASettlementIsChanging() throws Exception {
    startHere();
    List<UUID> all = new ArrayList<>(post.send("orders", "k", 2));
    await().until(() -> ids("here").size() == 2);
    long job = addFrom(Instant.EPOCH);
    all.addAll(post.send("orders", "k", 3));
    await().until(() -> ids("here").size() == 5);
    try (Connection settlement = post.database.dataSource().getConnection()) {
      settlement.setAutoCommit(false);
      settlement
          .createStatement()
          .execute(
              "update postrider.queue set pull = true"
                  + " where sequence = (select min(sequence) from postrider.queue where route < 0)");
      int[] steps = {0};
      replay.run("ann", job, Pacer.unlimited(), progress -> steps[0]++ < 2);
      assertThat(catchingUp()).isTrue();
      settlement.commit();
    }
    replay.resume("ann", job);
    replay.run("ann", job, Pacer.unlimited(), progress -> true);
    assertThat(catchingUp()).isFalse();
    startMail();
    await().until(() -> ids("mail").size() == 5);
    assertThat(ids("mail")).containsExactlyElementsOf(all);
  }

  /** What waits for its turn would come before the earlier messages, if it is added again. */
  @Test
  void aSubscriptionThatIsCatchingUpIsRemovedWithWhatWaits() throws Exception {
    startHere();
    List<UUID> early = post.send("orders", "k", 3);
    await().until(() -> ids("here").size() == 3);
    long job = addFrom(Instant.EPOCH);
    post.send("orders", "k", 3);
    await().until(() -> ids("here").size() == 6);
    assertThatThrownBy(() -> subscriptions.remove("ann", MAIL))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("replay resume " + job)
        .hasMessageContaining("--discard");
    assertThat(catchingUp()).isTrue();

    assertThat(subscriptions.remove("ann", MAIL, true)).isTrue();
    assertThat(replay.run("ann", job, Pacer.unlimited(), progress -> true).requeued()).isZero();
    assertThatThrownBy(() -> subscriptions.add("ann", MAIL)).hasMessageContaining("discard");
    assertThat(subscriptions.discard("ann", MAIL, "not needed", count -> true)).isEqualTo(3);
    assertThat(catchingUp()).isFalse();

    long again = addFrom(Instant.EPOCH);
    startMail();
    List<UUID> late = post.send("orders", "k", 2);
    replay.run("ann", again, Pacer.unlimited(), progress -> true);
    await().until(() -> ids("mail").containsAll(late));
    post.untilEmpty();
    assertThat(ids("mail"))
        .as("in order, without what was discarded")
        .containsExactlyElementsOf(Stream.concat(early.stream(), late.stream()).toList());
  }

  /** The replay ended, so nothing is out of order: what waits is delivered. */
  @Test
  void aRemovedSubscriptionStillDeliversWhatWaits() throws Exception {
    startHere();
    List<UUID> all = new ArrayList<>(post.send("orders", "k", 3));
    await().until(() -> ids("here").size() == 3);
    long job = addFrom(Instant.EPOCH);
    all.addAll(post.send("orders", "k", 3));
    await().until(() -> ids("here").size() == 6);
    replay.run("ann", job, Pacer.unlimited(), progress -> true);
    assertThat(subscriptions.remove("ann", MAIL)).isTrue();
    post.start(
        post.builder()
            .destination("mail", taking("mail"))
            .destination("here", taking("here"))
            .subscription("shop", "orders", "mail", "mail"));
    await().until(() -> ids("mail").containsAll(all));
    post.untilEmpty();
    assertThat(ids("mail")).containsExactlyElementsOf(all);
  }
}
