package dev.postrider.bench.soak;

import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.Incoming;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.replay.ReplayJob;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import dev.postrider.stream.StreamDestination;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Every kind of message that leaves rows behind: keys that never come back, dedupe keys, stream
 * events, references, a consumer's inbox, dead letters that an operator resolves, replays, and
 * relays that come and go. Thread-safe.
 */
final class Traffic implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofSeconds(5);
  private static final int PER_ORDER = 3;

  private final DataSource dataSource;
  private final Outbox outbox = new Outbox();
  private final Inbox inbox = new Inbox();
  private final AtomicLong count = new AtomicLong();
  private final ConcurrentLinkedQueue<Long> latencies = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<String> problems = new ConcurrentLinkedQueue<>();
  private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(4);
  private final Relay steady;
  private final OldDays days;
  private volatile @Nullable UUID recent;

  Traffic(DataSource dataSource, int rate) {
    this.dataSource = dataSource;
    this.steady = relay("steady").start();
    this.days = new OldDays(dataSource);
    long every = 1_000_000L * PER_ORDER / rate;
    var unusedOrders =
        executor.scheduleAtFixedRate(() -> quietly(this::order), 0, every, TimeUnit.MICROSECONDS);
    var unusedResolves =
        executor.scheduleWithFixedDelay(() -> quietly(this::resolve), 1, 1, TimeUnit.SECONDS);
    var unusedReplays =
        executor.scheduleWithFixedDelay(() -> quietly(this::replay), 2, 2, TimeUnit.SECONDS);
    var unusedDays =
        executor.scheduleWithFixedDelay(
            () -> quietly(days::make), 3, OldDays.EVERY_SECONDS, TimeUnit.SECONDS);
    var unusedComings =
        executor.scheduleWithFixedDelay(() -> quietly(this::comeAndGo), 1, 1, TimeUnit.SECONDS);
  }

  private static RetentionConfig retention() {
    RetentionConfig config = RetentionConfig.off().withInterval(Duration.ofSeconds(1));
    for (RetentionTask task : RetentionTask.values()) {
      config = config.withPeriod(task, PERIOD);
    }
    return config;
  }

  private Relay relay(String name) {
    return Relay.builder(dataSource)
        .config(RelayConfig.defaults().withName(name))
        .retention(retention())
        .destination("sink", HandlerDestination.of(4, this::take))
        .destination("stream", new StreamDestination(dataSource, Schema.DEFAULT))
        .route("soak", "orders", "sink")
        .route("soak", "feed", "stream")
        .build();
  }

  /** One order: a key that is never used again, some messages, one of them for the stream. */
  private void order() throws SQLException {
    long number = count.incrementAndGet();
    String key = "order-" + number;
    List<NewMessage> messages = new ArrayList<>();
    for (int i = 0; i < PER_ORDER; i++) {
      messages.add(
          NewMessage.to("soak", i == 2 ? "feed" : "orders")
              .key(key)
              .dedupeKey(key + "/" + i)
              .eventType(number % 50 == 0 && i == 0 ? "bad" : "good")
              .json("{\"sent\": " + System.nanoTime() + "}")
              .build());
    }
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        recent = outbox.enqueue(connection, messages).get(1).id();
        connection.commit();
      } catch (SQLException e) {
        connection.rollback();
        throw e;
      }
    }
  }

  private Outcome take(Message message) throws SQLException {
    if ("bad".equals(message.eventType()) && !message.redelivery()) {
      return Outcome.terminal("bad", "refused the first time");
    }
    inbox.handle(dataSource, "soak", Incoming.of(message), connection -> {});
    if (!message.redelivery()) {
      String text = message.text();
      long sent = Long.parseLong(text.substring(9, text.length() - 1));
      latencies.add((System.nanoTime() - sent) / 1_000);
    }
    return Outcome.delivered("reference-" + message.id());
  }

  private void resolve() throws SQLException {
    DeadLetters dead = new DeadLetters(dataSource, Schema.DEFAULT);
    List<UUID> ids =
        dead.list(DeadLetterFilter.all(), true, null, 2).items().stream()
            .map(letter -> letter.id())
            .toList();
    if (ids.size() > 1) {
      dead.discard("soak", "every other one", List.of(ids.get(0)));
    }
    dead.requeue("soak", DeadLetterFilter.all(), n -> true);
  }

  private void replay() throws SQLException {
    UUID id = recent;
    if (id != null) {
      Replay replay = new Replay(dataSource, Schema.DEFAULT);
      ReplayJob job = replay.start("soak", ReplayFilter.ids(List.of(id)));
      replay.run("soak", job.id(), Pacer.unlimited(), state -> true);
    }
  }

  /** A second relay under a new name each time, as deployments do it. */
  private void comeAndGo() throws InterruptedException {
    try (Relay guest = relay("guest-" + UUID.randomUUID())) {
      guest.start();
      Thread.sleep(4_000);
    }
  }

  /** The latencies since the last call, in microseconds. */
  List<Long> latencies() {
    List<Long> taken = new ArrayList<>();
    for (Long next = latencies.poll(); next != null; next = latencies.poll()) {
      taken.add(next);
    }
    return taken;
  }

  /** What went wrong, each kind once. */
  List<String> problems() {
    return problems.stream().distinct().limit(20).toList();
  }

  /** Days of the past that it made. */
  int oldDays() {
    return days.made();
  }

  private interface Work {
    void run() throws Exception;
  }

  /** Nothing may escape: the executor would never call again. */
  private void quietly(Work work) {
    try {
      work.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      if (problems.size() < 1_000) {
        problems.add(String.valueOf(e));
      }
    }
  }

  @Override
  public void close() {
    executor.shutdownNow();
    try {
      if (!executor.awaitTermination(30, TimeUnit.SECONDS)) {
        problems.add("traffic did not stop");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    steady.close();
  }
}
