package dev.postrider.bench;

import dev.postrider.bench.peer.Payload;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * How long messages of quiet ones take from just before their commit to their handler, alone and
 * beside the backlog of a busy one. 100 messages a second go to 100 quiet ones in turns. All share
 * one destination of four threads, each of which takes 200 µs for a message, so that the backlog
 * outlasts the measurement. A sample is the 99th percentile of a round. Not thread-safe.
 */
final class Neighbours {
  /** How many quiet ones there are. */
  static final int QUIET = 100;

  private static final long PERIOD_NANOS = 10_000_000;
  private static final int WARM_UP = 25;
  private static final int THREADS = 4;
  private static final long HANDLING_NANOS = 200_000;
  private static final int BUSY = 100_000;
  private static final long LIMIT_NANOS = 60_000_000_000L;

  /** Orders with this number or a higher one are those of the quiet ones. */
  private static final long FIRST_QUIET = 1_000_000_000;

  private final BenchDatabase database;
  private final Options options;
  private final Rounds rounds;
  private final Map<String, List<Double>> millis = new LinkedHashMap<>();
  private final Outbox outbox = new Outbox();

  /** A message for the quiet one with this number, without a payload yet. */
  interface Quiet {
    NewMessage.Builder to(int number);
  }

  Neighbours(BenchDatabase database, Options options) {
    this.database = database;
    this.options = options;
    this.rounds = new Rounds(database.meter());
  }

  /**
   * Adds two variants: the quiet ones alone, called idle, and beside the busy one.
   *
   * @param name what they are, a key say
   */
  void variants(String name, Quiet quiet, Shape busy) {
    variant("idle " + name, quiet, null);
    variant("busy " + name, quiet, busy);
  }

  private void variant(String name, Quiet quiet, @Nullable Shape busy) {
    List<Double> all = new ArrayList<>();
    millis.put(name, all);
    rounds.variant(
        name,
        () -> {
          List<Double> round = round(quiet, busy);
          all.addAll(round);
          return Rounds.Result.percentile(round, 0.99);
        });
  }

  /** A row for each variant, of all rounds. */
  Rounds.Result run(Report report) throws Exception {
    rounds.run(1);
    millis.values().forEach(List::clear);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.figure("busy_backlog", backlog(count()));
    report.heading("others beside", "p50 ms", "p99 ms", "longest ms");
    millis.forEach(
        (name, all) -> {
          double p50 = Rounds.Result.percentile(all, 0.5);
          double p99 = Rounds.Result.percentile(all, 0.99);
          double longest = Rounds.Result.percentile(all, 1);
          report.row(name, Report.number(p50), Report.number(p99), Report.number(longest));
          report.figure(Report.key(name) + "_others_p50_ms", p50);
          report.figure(Report.key(name) + "_others_p99_ms", p99);
        });
    return result;
  }

  /** Milliseconds of each message of the quiet ones; empty if the busy one did not last. */
  private List<Double> round(Quiet quiet, @Nullable Shape busy) throws Exception {
    int count = count();
    int backlog = busy == null ? 0 : backlog(count);
    Drain.of(database, options).load(busy == null ? Shape.topic("orders") : busy, backlog);
    Arrivals arrivals =
        new Arrivals(new AtomicLong(), new AtomicLong(), new AtomicLongArray(count));
    try (Relay relay =
        new Relays(database, Schema.DEFAULT, options.workers())
            .to(HandlerDestination.of(THREADS, arrivals::handle))) {
      relay.start();
      Relays.awaitListening(relay);
      await("a message of the busy one", () -> busy == null || arrivals.busy.get() > 0);
      long[] sentNanos = send(quiet, count);
      boolean lasted = busy == null || arrivals.busy.get() < backlog;
      await("the messages of the quiet ones", () -> arrivals.quiet.get() >= count);
      if (!lasted) {
        System.err.printf("the backlog of %d messages ended before the measurement%n", backlog);
      }
      return lasted ? arrivals.millis(sentNanos) : List.of();
    }
  }

  /** How many messages the quiet ones send in a round. */
  private int count() {
    return (int) Math.max(1, options.round().toNanos() / PERIOD_NANOS) + WARM_UP;
  }

  /** So many that the destination cannot take them all while the quiet ones send, and a second. */
  private int backlog(int count) {
    long nanos = count * PERIOD_NANOS + 1_000_000_000;
    return (int) Math.max(options.scaled(BUSY), THREADS * nanos / HANDLING_NANOS);
  }

  /** Sends at a steady pace; returns when each commit began. */
  private long[] send(Quiet quiet, int count) throws Exception {
    long[] sentNanos = new long[count];
    try (Connection connection = database.transaction()) {
      long next = System.nanoTime();
      for (int i = 0; i < count; i++) {
        next += PERIOD_NANOS;
        while (System.nanoTime() < next) {
          LockSupport.parkNanos(next - System.nanoTime());
        }
        String payload = Payload.json(FIRST_QUIET + i);
        outbox.enqueue(connection, quiet.to(i % QUIET).json(payload).build());
        sentNanos[i] = System.nanoTime();
        connection.commit();
      }
    }
    return sentNanos;
  }

  private interface Condition {
    boolean holds();
  }

  private static void await(String what, Condition condition) {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (!condition.holds()) {
      if (System.nanoTime() > deadline) {
        System.err.printf("waited %d s in vain for %s%n", LIMIT_NANOS / 1_000_000_000, what);
        return;
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** What the destination was given, and when each message of the quiet ones first came. */
  private record Arrivals(AtomicLong busy, AtomicLong quiet, AtomicLongArray firstNanos) {
    Outcome handle(Message message) {
      long now = System.nanoTime();
      long number = Payload.order(message.text()) - FIRST_QUIET;
      if (number < 0) {
        busy.incrementAndGet();
      } else if (firstNanos.compareAndSet((int) number, 0, now)) {
        quiet.incrementAndGet();
      }
      LockSupport.parkNanos(HANDLING_NANOS);
      return Outcome.delivered();
    }

    /** Of those after the warm-up; one that has not come yet counts with the time until now. */
    List<Double> millis(long[] sentNanos) {
      long now = System.nanoTime();
      List<Double> millis = new ArrayList<>();
      for (int i = WARM_UP; i < sentNanos.length; i++) {
        long came = firstNanos.get(i) == 0 ? now : firstNanos.get(i);
        millis.add((came - sentNanos[i]) / 1e6);
      }
      return millis;
    }
  }
}
