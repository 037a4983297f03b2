package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.retention.Keys.Way;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.replay.ReplayJob;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import dev.postrider.testrules.NoSecondChance;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Producers of every kind come back to the same few keys while messages and keys are removed as
 * soon as they can be, and operators requeue and replay.
 */
@Tag("OP-8")
@Timeout(180)
@NoSecondChance
class KeyRetirementRaceTest {
  private static final int PRODUCERS = 4;
  private static final int KEYS = 16;
  private static final int EACH = 200;
  private static final int RETIRED = 20;
  private static final List<Integer> LEVELS =
      List.of(
          Connection.TRANSACTION_READ_COMMITTED,
          Connection.TRANSACTION_REPEATABLE_READ,
          Connection.TRANSACTION_SERIALIZABLE);

  private static final List<Way> WAYS = List.of(Way.values());

  private final Keys keys = new Keys(version());
  private final List<Sent> sent = Collections.synchronizedList(new ArrayList<>());
  private final Map<String, List<Long>> arrived = new HashMap<>();
  private final Set<String> ever = new HashSet<>();
  private final AtomicInteger delivered = new AtomicInteger();
  private final AtomicLong retired = new AtomicLong();
  private final AtomicInteger repeated = new AtomicInteger();
  private final AtomicInteger replayed = new AtomicInteger();
  private final AtomicInteger requeued = new AtomicInteger();
  private final AtomicBoolean producing = new AtomicBoolean(true);
  private final AtomicBoolean racing = new AtomicBoolean(true);

  int version() {
    return TestDatabase.NEWEST;
  }

  /**
   * A committed message: nobody had its number before `begun`, and everybody knew it at `ended`.
   */
  private record Sent(String key, long sequence, long begun, long ended) {}

  @Test
  void noNumberIsEverUsedTwice() throws Exception {
    List<CompletableFuture<Void>> producers = new ArrayList<>();
    List<CompletableFuture<Void>> racers = new ArrayList<>();
    try (Relay relay = relay()) {
      racers.add(async(this::retire));
      racers.add(async(this::retire));
      racers.add(async(this::requeue));
      racers.add(async(this::replay));
      for (int i = 0; i < PRODUCERS; i++) {
        Random random = new Random(i);
        producers.add(async(() -> produce(random)));
      }
      for (CompletableFuture<Void> producer : producers) {
        producer.get();
      }
      producing.set(false);
      await().atMost(Duration.ofSeconds(60)).until(() -> missing().isEmpty());
      racing.set(false);
      for (CompletableFuture<Void> racer : racers) {
        racer.get();
      }
      await().until(() -> keys.database.count("select count(*) from postrider.queue") == 0);
    }
    assertThat(sent).hasSizeGreaterThanOrEqualTo(PRODUCERS * EACH);
    sent.stream().collect(Collectors.groupingBy(Sent::key)).forEach(this::check);
  }

  /** Producers go on until every kind of race was run; the test's timeout is the limit. */
  private boolean everythingHappened() {
    return retired.get() > RETIRED
        && repeated.get() > 0
        && requeued.get() > 0
        && replayed.get() > 0;
  }

  private Set<String> missing() {
    Set<String> wanted = new HashSet<>();
    synchronized (sent) {
      sent.forEach(each -> wanted.add(each.key + "#" + each.sequence));
    }
    synchronized (arrived) {
      wanted.removeAll(ever);
    }
    return wanted;
  }

  private void check(String key, List<Sent> messages) {
    List<Sent> ordered =
        messages.stream().sorted(Comparator.comparingLong(Sent::sequence)).toList();
    assertThat(ordered.stream().map(Sent::sequence)).as(key).doesNotHaveDuplicates();
    long earliestEnd = Long.MAX_VALUE;
    for (int i = ordered.size() - 1; i >= 0; i--) {
      Sent each = ordered.get(i);
      earliestEnd = Math.min(earliestEnd, each.ended);
      assertThat(each.begun)
          .as("%s has a later number than one after it", each)
          .isLessThan(earliestEnd);
    }
    synchronized (arrived) {
      assertThat(arrived.get(key)).as("order of " + key).isSorted().doesNotHaveDuplicates();
    }
  }

  private Relay relay() {
    return Relay.builder(keys.database.dataSource())
        .config(
            RelayConfig.defaults()
                .withPollInterval(Duration.ofMillis(20))
                .withReapInterval(Duration.ofMillis(200)))
        .retention(RetentionConfig.off())
        .destination("here", HandlerDestination.inline(this::take))
        .route("shop", "*", "here")
        .build()
        .start();
  }

  /**
   * Refuses every tenth message the first time; what an operator sends again comes out of order.
   */
  private Outcome take(Message message) {
    synchronized (arrived) {
      String key = String.valueOf(message.key());
      if (!message.redelivery()) {
        arrived.computeIfAbsent(key, k -> new ArrayList<>()).add(message.sequence());
        if (delivered.incrementAndGet() % 10 == 0) {
          return Outcome.terminal("refused", "the first time");
        }
      }
      ever.add(key + "#" + message.sequence());
    }
    return Outcome.delivered();
  }

  private void produce(Random random) throws Exception {
    try (Connection connection = keys.database.transaction()) {
      for (int done = 0; done < EACH || !everythingHappened(); ) {
        String key = "k" + random.nextInt(KEYS);
        Way way = WAYS.get(random.nextInt(WAYS.size()));
        connection.setTransactionIsolation(LEVELS.get(random.nextInt(LEVELS.size())));
        long begun = 0;
        try {
          if (random.nextBoolean()) {
            // At the higher levels the snapshot is taken here, and gets old.
            query(connection, "select pg_sleep(" + random.nextInt(20) / 1000.0 + ")");
          }
          begun = System.nanoTime();
          long sequence = keys.send(connection, way, key);
          connection.commit();
          sent.add(new Sent(key, sequence, begun, System.nanoTime()));
          done++;
        } catch (SQLException e) {
          assertThat(e.getSQLState()).as(e.getMessage()).isEqualTo("40001");
          connection.rollback();
          repeated.incrementAndGet();
        }
      }
    }
  }

  private static long query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getObject(1) instanceof Number n ? n.longValue() : 0;
    }
  }

  private void retire() throws Exception {
    try (Connection connection = keys.database.dataSource().getConnection()) {
      while (racing.get()) {
        query(
            connection,
            "select removed from postrider.remove_settled(array(select id from postrider.message"
                + " order by id limit 200), postrider.id_floor(now() + interval '1 day')) r(removed)");
        retired.addAndGet(Keys.retire(connection));
      }
    }
  }

  private void requeue() throws Exception {
    DeadLetters dead = new DeadLetters(keys.database.dataSource(), Schema.DEFAULT);
    while (racing.get()) {
      requeued.addAndGet((int) dead.requeue("ann", DeadLetterFilter.all(), count -> true));
    }
  }

  private void replay() throws Exception {
    Replay replay = new Replay(keys.database.dataSource(), Schema.DEFAULT);
    for (int i = 0; producing.get(); i++) {
      ReplayJob job =
          replay.start("ann", ReplayFilter.namespace("shop").with("key", "k" + i % KEYS));
      ReplayJob end = replay.run("ann", job.id(), Pacer.perSecond(10_000), state -> true);
      replayed.addAndGet((int) end.requeued());
      keys.database.execute("select pg_sleep(0.02)"); // keys that are replayed do not get idle
    }
  }

  private interface Task {
    void run() throws Exception;
  }

  private static CompletableFuture<Void> async(Task task) {
    CompletableFuture<Void> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
                result.complete(null);
              } catch (Throwable e) {
                result.completeExceptionally(new CompletionException(e));
              }
            });
    thread.setDaemon(true);
    thread.start();
    return result;
  }
}
