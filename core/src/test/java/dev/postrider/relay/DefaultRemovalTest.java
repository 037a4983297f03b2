package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Backoff;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.Route;
import dev.postrider.operations.Subscriptions;
import dev.postrider.schema.Schema;
import dev.postrider.testrules.NoSecondChance;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The default subscription comes and goes while producers enqueue and retries hide the followers of
 * its keys. Its queue rows are those that producers wrote, so the others must lose none with it.
 */
@Tag("EN-23")
@Timeout(240)
@NoSecondChance
class DefaultRemovalTest {
  private static final Route ORDERS = new Route("shop", "orders");
  private static final int ROUNDS = 5;
  private static final int PRODUCERS = 3;
  private static final int KEYS = 6;
  private static final int MOST_WAITING = 200;

  @AutoClose private final Post post = new Post();
  private final Map<String, List<Message>> arrived = new ConcurrentHashMap<>();
  private final Subscriptions subscriptions =
      new Subscriptions(post.database.dataSource(), Schema.DEFAULT);
  private final ConcurrentLinkedQueue<UUID> sent = new ConcurrentLinkedQueue<>();
  private final ExecutorService pool = Executors.newFixedThreadPool(PRODUCERS);
  private final AtomicBoolean going = new AtomicBoolean(true);

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

  /** Takes one message in ten only with its second attempt. */
  private Destination taking(String name) {
    return HandlerDestination.inline(
        message -> {
          if (message.attempt() == 1 && Math.floorMod(message.id().hashCode(), 10) == 0) {
            return Outcome.retryable("busy", "try again");
          }
          at(name).add(message);
          return Outcome.delivered();
        });
  }

  private void startRelay() {
    RouteOptions soon =
        RouteOptions.DEFAULT.withRetry(
            new RetryPolicy(
                new Backoff(Duration.ofMillis(20), Duration.ofMillis(20), 0),
                10,
                RetryPolicy.DeadPolicy.BLOCK));
    Relay.Builder builder =
        post.builder().destination("here", taking("here")).route("shop", "*", "here", soon);
    for (String name : List.of("mail", "audit")) {
      builder.destination(name, taking(name)).subscription("shop", "orders", name, name, soon);
    }
    post.start(builder);
  }

  /** As fast as the relays are: a retry delays its key, and a backlog would only grow. */
  private void produce(int number) {
    for (int i = number; going.get(); i++) {
      while (going.get() && sent.size() - at("mail").size() > MOST_WAITING) {
        LockSupport.parkNanos(1_000_000);
      }
      sent.addAll(post.send("orders", i % 7 == 6 ? null : "k" + i % 7, 3));
    }
  }

  private interface Change {
    boolean make() throws Exception;
  }

  private static void make(Change change) {
    await()
        .ignoreExceptions() // a producer's transaction may be open for long on a busy machine
        .until(change::make);
  }

  private UUID probe() {
    UUID id = post.send("orders", "probe");
    sent.add(id);
    return id;
  }

  private void awaitTraffic() {
    int before = ids("mail").size();
    await().until(() -> ids("mail").size() > before + 60);
  }

  @Test
  void theOthersGetEverythingAndNothingIsStuck() throws Exception {
    startRelay();
    startRelay();
    List<UUID> there = new ArrayList<>();
    List<UUID> gone = new ArrayList<>();
    List<CompletableFuture<Void>> producers =
        IntStream.range(0, PRODUCERS)
            .mapToObj(number -> CompletableFuture.runAsync(() -> produce(number), pool))
            .toList();
    try {
      for (int round = 0; round < ROUNDS; round++) {
        awaitTraffic();
        there.add(probe());
        make(() -> subscriptions.remove("ann", ORDERS));
        gone.add(probe());
        awaitTraffic();
        if (round % 2 == 1) {
          subscriptions.discard("ann", ORDERS, "not needed", count -> true);
        }
        gone.add(probe());
        make(() -> subscriptions.add("ann", ORDERS));
        there.add(probe());
      }
      awaitTraffic();
    } finally {
      going.set(false);
      pool.shutdown();
    }
    for (CompletableFuture<Void> producer : producers) {
      producer.get();
    }
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(
                        post.database.column("select to_jsonb(q) from postrider.queue q limit 9"))
                    .isEmpty());
    assertThat(new HashSet<>(ids("here"))).doesNotContainAnyElementsOf(gone);
    assertThat(
            post.database.column(
                "select message_id from postrider.dead_letter where subscription > 0"))
        .isEmpty();
    List<UUID> discarded =
        post.database.column("select message_id from postrider.dead_letter").stream()
            .map(UUID::fromString)
            .toList();
    assertThat(discarded).doesNotContainAnyElementsOf(gone);
    there.removeAll(discarded);
    assertThat(ids("here")).containsAll(there).doesNotHaveDuplicates();
    for (String name : List.of("mail", "audit")) {
      assertThat(ids(name)).as(name).containsExactlyInAnyOrderElementsOf(sent);
    }
    for (int k = 0; k < KEYS; k++) {
      List<Long> all = sequences("mail", "k" + k);
      assertThat(all)
          .containsExactlyElementsOf(LongStream.rangeClosed(1, all.size()).boxed().toList());
      assertThat(sequences("audit", "k" + k)).containsExactlyElementsOf(all);
      assertThat(sequences("here", "k" + k)).isSorted();
    }
  }
}
