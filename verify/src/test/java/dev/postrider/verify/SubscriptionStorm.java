package dev.postrider.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Route;
import dev.postrider.operations.Subscriptions;
import dev.postrider.relay.Relay;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayJob;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Producers, relay processes that are killed, and an operator who adds and removes subscriptions of
 * shop/orders, all at once. Afterwards {@link #check} compares what was sent with what arrived.
 *
 * <ul>
 *   <li>The default subscription and {@code always} get everything.
 *   <li>{@code now} is added and removed; it gets what is committed while it is there.
 *   <li>{@code past} is removed, sometimes before it has its earlier messages, and added with all
 *       that came before; at the end it has everything but what was discarded.
 * </ul>
 */
final class SubscriptionStorm {
  private static final int KEYS = 10;

  /** A message whose commit was acknowledged. */
  private record Sent(UUID id, @Nullable String key, boolean snapshot, long begun, long done) {}

  /** When a subscription was there for certain, or was gone for certain. */
  private record Span(boolean there, long from, long until) {
    boolean holds(Sent sent) {
      return sent.begun() > from && sent.done() < until;
    }
  }

  private final TestPostgres database;
  private final Random random;
  private final Subscriptions subscriptions;
  private final Replay replay;
  private final Queue<Sent> sent = new ConcurrentLinkedQueue<>();
  private final List<Span> spans = new ArrayList<>();
  private volatile boolean producing = true;
  private volatile @Nullable Throwable trouble;

  SubscriptionStorm(TestPostgres database, long seed) {
    this.database = database;
    this.random = new Random(seed);
    this.subscriptions = new Subscriptions(database.dataSource(), Schema.DEFAULT);
    this.replay = new Replay(database.dataSource(), Schema.DEFAULT);
    database.execute(Effects.TABLE);
  }

  private PGSimpleDataSource dataSource() {
    return (PGSimpleDataSource) database.dataSource();
  }

  private static Route of(String name) {
    return new Route("shop", "orders", name);
  }

  /** Rages until so many acts of the operator and so many kills are done. */
  void rage(int acts, int kills) throws Exception {
    subscriptions.add("ann", of("always"));
    try (Relay holder = RelayMain.relay(dataSource(), "holder", "always", "now", "past").start()) {
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> subscriptions.list().stream().filter(s -> s.active()).count() == 4);
      List<Thread> producers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        long seed = random.nextLong();
        producers.add(started("producer " + i, () -> produce(new Random(seed))));
      }
      Thread killer = started("killer", () -> kill(kills));
      try {
        operate(acts);
        killer.join();
      } finally {
        producing = false;
        for (Thread thread : producers) {
          thread.join();
        }
      }
      catchUp(null);
      new Ledger(database).untilEmpty();
      assertThat(holder.status().running()).isTrue();
    }
    if (trouble != null) {
      throw new AssertionError(trouble);
    }
  }

  private interface Part {
    void run() throws Exception;
  }

  private Thread started(String name, Part part) {
    Thread thread =
        new Thread(
            () -> {
              try {
                part.run();
              } catch (Throwable e) {
                trouble = e;
              }
            },
            name);
    thread.start();
    return thread;
  }

  private void produce(Random chance) {
    while (producing) {
      boolean snapshot = chance.nextInt(4) == 0;
      List<Sent> mine = new ArrayList<>();
      long begun = System.nanoTime();
      try (Connection connection = dataSource().getConnection()) {
        connection.setAutoCommit(false);
        if (snapshot) {
          connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
          connection.createStatement().execute("select 1 from effect limit 1");
          LockSupport.parkNanos(chance.nextInt(60_000_000));
        }
        for (int i = chance.nextInt(3); i >= 0; i--) {
          String key = chance.nextInt(4) == 0 ? null : "k" + chance.nextInt(KEYS);
          NewMessage.Builder message = NewMessage.to("shop", "orders").json("{}");
          if (key != null) {
            message.key(key);
          }
          UUID id = new Outbox().enqueue(connection, message.build()).id();
          mine.add(new Sent(id, key, snapshot, begun, 0));
          LockSupport.parkNanos(chance.nextInt(8_000_000));
        }
        if (chance.nextInt(10) == 0) {
          connection.rollback();
          continue;
        }
        connection.commit();
        long done = System.nanoTime();
        mine.forEach(m -> sent.add(new Sent(m.id(), m.key(), snapshot, begun, done)));
      } catch (SQLException e) {
        // Deadlocks of keys, and conflicts of snapshots: nothing was written.
        assertThat(e.getSQLState()).as(e.getMessage()).isIn("40001", "40P01");
      }
      LockSupport.parkNanos(chance.nextInt(3_000_000));
    }
  }

  /** Relays of different configurations, which also fan out for those that they do not serve. */
  private void kill(int kills) throws Exception {
    List<RelayProcess> relays = new ArrayList<>();
    Random chance = new Random(random.nextLong());
    try {
      for (int i = 0; i < 2; i++) {
        relays.add(process(i, chance));
      }
      for (int i = 0; i < kills; i++) {
        String name = "r" + i + "/%";
        await()
            .atMost(Duration.ofMinutes(1))
            .until(
                () ->
                    database.count(
                            "select count(*) from postrider.worker where name like '" + name + "'")
                        > 0);
        Thread.sleep(chance.nextInt(500)); // any moment will do
        relays.remove(0).kill();
        relays.add(process(i + 2, chance));
      }
    } finally {
      relays.forEach(RelayProcess::close);
    }
  }

  private RelayProcess process(int number, Random chance) {
    String name = "r" + number;
    return chance.nextBoolean()
        ? RelayProcess.start(database.jdbcUrl(), name, "always")
        : RelayProcess.start(database.jdbcUrl(), name);
  }

  private void operate(int acts) throws Exception {
    boolean there = true;
    long since = System.nanoTime();
    for (int i = 0; i < acts; i++) {
      Thread.sleep(random.nextInt(400)); // any moment will do
      long asked = change("now", !there);
      spans.add(new Span(there, since, asked));
      since = System.nanoTime();
      there = !there;
      if (i % 3 == 0) {
        removePast();
      } else if (i % 3 == 1) {
        catchUp(random.nextInt(3));
      }
    }
    spans.add(new Span(there, since, Long.MAX_VALUE));
  }

  /** Returns when the attempt that succeeded began. */
  private long change(String name, boolean add) {
    long[] asked = new long[1];
    await()
        .atMost(Duration.ofMinutes(1))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(20))
        .ignoreExceptions() // a producer's transaction may be open for long, or a backlog be large
        .until(
            () -> {
              asked[0] = System.nanoTime();
              return add
                  ? subscriptions.add("ann", of(name))
                  : subscriptions.remove("ann", of(name));
            });
    return asked[0];
  }

  /** While it is catching up, what waits for it is discarded. */
  private void removePast() throws Exception {
    boolean[] discard = new boolean[1];
    await()
        .atMost(Duration.ofMinutes(1))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(20))
        .ignoreExceptions()
        .until(
            () -> {
              discard[0] =
                  subscriptions.list().stream()
                      .anyMatch(s -> s.route().equals(of("past")) && s.catchingUp());
              return subscriptions.remove("ann", of("past"), discard[0]);
            });
    if (discard[0]) {
      subscriptions.discard("ann", of("past"), "removed meanwhile", count -> true);
    }
  }

  /**
   * @param steps after so many the operator's process is gone, and somebody goes on later
   */
  private void catchUp(@Nullable Integer steps) throws Exception {
    Long[] added = new Long[1];
    if (subscriptions.list().stream().noneMatch(s -> s.route().equals(of("past")) && s.active())) {
      await()
          .atMost(Duration.ofMinutes(1))
          .ignoreExceptions()
          .until(() -> (added[0] = subscriptions.add("ann", of("past"), Instant.EPOCH)) != null);
    }
    String open =
        "select id from postrider.replay_job where catch_up is not null and state <> 'done'"
            + " order by id desc limit 1";
    for (String job : database.column(open)) {
      int[] left = {steps == null ? Integer.MAX_VALUE : steps};
      replay.resume("ann", Long.parseLong(job));
      ReplayJob state =
          replay.run("ann", Long.parseLong(job), Pacer.perSecond(2_000), progress -> left[0]-- > 0);
      assertThat(steps != null || state.state() == ReplayJob.State.DONE).isTrue();
    }
  }

  String summary() {
    return "%d sent, %d effects, %d discarded, %d doubled, %d spans"
        .formatted(
            sent.size(),
            database.count("select count(*) from effect"),
            database.count("select count(*) from postrider.dead_letter"),
            database.count(
                "select coalesce(sum(n - 1), 0) from (select count(*) as n from effect"
                    + " group by id, subscription) e"),
            spans.size());
  }

  void check() {
    Set<UUID> all = sent.stream().map(Sent::id).collect(Collectors.toSet());
    assertThat(database.column("select id from postrider.message"))
        .as("what was committed")
        .containsExactlyInAnyOrderElementsOf(all.stream().map(UUID::toString).toList());
    for (String name : List.of("", "always", "past")) {
      assertThat(missing(name)).as("never delivered to '" + name + "'").isEmpty();
    }
    assertThat(new Ledger(database).outOfOrder()).as("out of order").isEmpty();
    assertThat(
            database.column(
                """
                select e.subscription || ' ' || e.id from effect e
                 group by e.subscription, e.id having count(*) > 1 + (
                   select count(*) from postrider.attempt_history a
                    where a.message_id = e.id and a.subscription = e.subscription
                      and a.state = 'ZOMBIE_REQUEUE')
                """))
        .as("doubled, although no lease was lost")
        .isEmpty();
    checkBorders();
  }

  private List<String> missing(String name) {
    return database.column(
        """
        select id from postrider.message m
         where not exists (select from effect e where e.id = m.id and e.subscription = '%1$s')
           and not exists (
             select from postrider.dead_letter d join postrider.route r on r.id = d.route
              where d.message_id = m.id and r.subscription = '%1$s'
                and d.code = 'subscription_removed')
        """
            .formatted(name));
  }

  private void checkBorders() {
    Set<String> arrived =
        Set.copyOf(database.column("select distinct id from effect where subscription = 'now'"));
    List<String> wrong = new ArrayList<>();
    for (Sent each : sent) {
      boolean got = arrived.contains(each.id().toString());
      for (Span span : spans) {
        if (span.holds(each) && span.there() != got) {
          wrong.add((got ? "too much: " : "missed: ") + each);
        }
      }
    }
    assertThat(wrong).as("at the border").isEmpty();
    for (int k = 0; k < KEYS; k++) {
      TreeMap<Long, Boolean> flags = new TreeMap<>();
      for (String row :
          database.column(
              "select sequence || ' ' || id from postrider.message where ordering_key = 'k"
                  + k
                  + "'")) {
        String[] parts = row.split(" ", 2);
        flags.put(Long.valueOf(parts[0]), arrived.contains(parts[1]));
      }
      int changes = 0;
      Boolean before = true;
      for (Boolean got : flags.values()) {
        changes += got.equals(before) ? 0 : 1;
        before = got;
      }
      assertThat(changes).as("holes of k" + k).isLessThan(spans.size());
    }
  }
}
