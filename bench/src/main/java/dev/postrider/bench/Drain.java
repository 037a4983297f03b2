package dev.postrider.bench;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RouteOptions;
import dev.postrider.schema.Schema;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Loads a backlog, empties it with a relay and says how fast. A drain that takes too long is
 * stopped: what arrived until then gives its rate, and a line on stderr says so. Holds no state
 * between calls.
 */
record Drain(BenchDatabase database, Schema schema, int workers) {
  /** A drain is stopped when it is slower than this, but not in its first seconds. */
  private static final long SLOWEST_PER_SECOND = 2_000;

  private static final long LIMIT_SECONDS_MIN = 30;

  private static final RouteOptions BLOCK =
      RouteOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withOnDead(RetryPolicy.DeadPolicy.BLOCK));

  /** How many messages a relay carried in how long. */
  private record Carried(long expected, long arrived, double seconds) {
    boolean all() {
      return arrived >= expected;
    }

    /** Not a number if none arrived. */
    double perSecond() {
      return arrived == 0 ? Double.NaN : arrived / seconds;
    }
  }

  /** A drain in the default schema. */
  static Drain of(BenchDatabase database, Options options) {
    return new Drain(database, Schema.DEFAULT, options.workers());
  }

  Backlog backlog() {
    return new Backlog(database, schema);
  }

  /** Messages per second that a relay carries of a backlog that is all there is. */
  double alone(Shape shape, int messages) throws Exception {
    load(shape, messages);
    return rate(messages);
  }

  /** Messages per second that a relay carries of a backlog beside what waits already. */
  double beside(Shape shape, int messages) throws Exception {
    return beside(shape, messages, limitSeconds(messages)).perSecond();
  }

  /** How long that takes; not a number if it takes longer than the limit. */
  double secondsBeside(Shape shape, int messages, long limitSeconds) throws Exception {
    Carried carried = beside(shape, messages, limitSeconds);
    database.meter().take();
    return carried.all() ? carried.seconds() : Double.NaN;
  }

  private Carried beside(Shape shape, int messages, long limitSeconds) throws Exception {
    String before = backlog().mark();
    backlog().load(shape, messages);
    database.settle();
    Carried carried = carry(messages, Outcome.delivered(), RouteOptions.DEFAULT, limitSeconds);
    if (!carried.all()) {
      backlog().dropSince(before); // the next round begins as this one did
    }
    return carried;
  }

  /** Replaces all messages by these. */
  void load(Shape shape, int messages) throws SQLException {
    backlog().clear();
    backlog().load(shape, messages);
    database.settle();
  }

  /** Messages per second that a relay carries of what was loaded. */
  double rate(int messages) throws InterruptedException {
    return carry(messages, Outcome.delivered(), RouteOptions.DEFAULT, limitSeconds(messages))
        .perSecond();
  }

  /** Lets all that waits die and block its keys, as a relay does it. */
  void block(int messages) throws InterruptedException {
    System.err.printf("%d messages die now, to block their keys%n", messages);
    Outcome dead = Outcome.terminal("bench", "blocks its key");
    Carried carried = carry(messages, dead, BLOCK, limitSeconds(messages));
    database.meter().take();
    if (!carried.all()) {
      throw new IllegalStateException(
          "only %d of %d keys were blocked in time".formatted(carried.arrived(), messages));
    }
  }

  private static long limitSeconds(long messages) {
    return Math.max(LIMIT_SECONDS_MIN, messages / SLOWEST_PER_SECOND);
  }

  private Carried carry(long messages, Outcome answer, RouteOptions how, long limitSeconds)
      throws InterruptedException {
    CountDownLatch all = new CountDownLatch(1);
    AtomicLong arrived = new AtomicLong();
    Relay relay =
        new Relays(database, schema, workers)
            .to(
                HandlerDestination.inline(
                    message -> {
                      if (arrived.incrementAndGet() == messages) {
                        all.countDown();
                      }
                      return answer;
                    }),
                how);
    database.meter().start();
    long start = System.nanoTime();
    relay.start();
    boolean ended = all.await(limitSeconds, TimeUnit.SECONDS);
    relay.close(); // settles the last ones: part of the work
    Carried carried = new Carried(messages, arrived.get(), (System.nanoTime() - start) / 1e9);
    database.meter().stop(Math.max(1, carried.arrived()));
    if (!ended) {
      System.err.printf(
          "a drain was stopped after %d s: %d of %d messages had arrived%n",
          limitSeconds, carried.arrived(), messages);
    }
    return carried;
  }
}
