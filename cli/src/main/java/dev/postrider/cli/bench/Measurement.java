package dev.postrider.cli.bench;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import dev.postrider.relay.Relay;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import javax.sql.DataSource;

/**
 * Measures, one thing after the other: a producer, then a relay, then both. Used by one thread; the
 * relay has its own.
 */
public final class Measurement {
  /** Thrown when the watcher asks to stop. */
  public static final class StoppedException extends PostriderException {
    private static final long serialVersionUID = 1L;

    StoppedException() {
      super("stopped");
    }
  }

  private static final int BATCH = 100;
  private static final int PINGS = 200;
  private static final int SLOWEST_SECONDS = 30;
  private static final double SECOND = 1e9;

  private final DataSource dataSource;
  private final ScratchSchema scratch;
  private final Outbox outbox;
  private final NewMessage message;
  private final Semaphore arrived = new Semaphore(0);
  private final LongPredicate watcher;
  private long done;

  /**
   * Prepares it.
   *
   * @param watcher gets the number of finished {@link #steps}, and returns whether to continue
   */
  public Measurement(
      DataSource dataSource, ScratchSchema scratch, int payloadBytes, LongPredicate watcher) {
    this.dataSource = dataSource;
    this.scratch = scratch;
    this.outbox = new Outbox(scratch.schema());
    this.message =
        NewMessage.to("bench", "bench")
            .json("\"" + "x".repeat(Math.max(payloadBytes - 2, 0)) + "\"")
            .build();
    this.watcher = watcher;
  }

  /** How many there are for so many messages. */
  public static long steps(int messages) {
    return 2L * singles(messages) + 2L * messages + PINGS;
  }

  private static int singles(int messages) {
    return Math.max(messages / 10, 50);
  }

  /** Runs all of it. */
  public Figures run(int messages) throws SQLException, InterruptedException {
    scratch.create();
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      double[] alternating = alternating(connection, singles(messages));
      double batched = batched(connection, messages);
      int waiting = singles(messages) + messages;
      long start = System.nanoTime();
      try (Relay relay = relay().start()) {
        for (int i = 0; i < waiting; i++) {
          await(relay);
          step(i < messages ? 1 : 0);
        }
        double drained = waiting / seconds(start);
        Figures.Latencies latencies = pings(connection, relay);
        return new Figures(
            alternating[0], alternating[1], batched, drained, latencies, (long) waiting + PINGS);
      }
    }
  }

  private Relay relay() {
    return Relay.builder(dataSource)
        .schema(scratch.schema())
        .destination(
            "bench",
            HandlerDestination.inline(
                unused -> {
                  arrived.release();
                  return Outcome.delivered();
                }))
        .route("bench", "bench", "bench")
        .build();
  }

  /** In turns, so that whatever else happens on the machine meets both alike. */
  private double[] alternating(Connection connection, int count) throws SQLException {
    long bareNanos = 0;
    long fullNanos = 0;
    try (Statement statement = connection.createStatement()) {
      for (int i = 0; i < count; i++) {
        long start = System.nanoTime();
        statement.execute("select pg_current_xact_id()"); // or there is nothing to commit
        connection.commit();
        long middle = System.nanoTime();
        outbox.enqueue(connection, message);
        connection.commit();
        bareNanos += middle - start;
        fullNanos += System.nanoTime() - middle;
        step(2);
      }
    }
    return new double[] {count * SECOND / bareNanos, count * SECOND / fullNanos};
  }

  private double batched(Connection connection, int messages) throws SQLException {
    long start = System.nanoTime();
    for (int written = 0; written < messages; written += BATCH) {
      int size = Math.min(BATCH, messages - written);
      outbox.enqueue(connection, Collections.nCopies(size, message));
      connection.commit();
      step(size);
    }
    return messages / seconds(start);
  }

  /** One at a time, each when the one before has arrived. */
  private Figures.Latencies pings(Connection connection, Relay relay)
      throws SQLException, InterruptedException {
    long[] nanos = new long[PINGS];
    for (int i = 0; i < PINGS; i++) {
      outbox.enqueue(connection, message);
      long start = System.nanoTime();
      connection.commit();
      await(relay);
      nanos[i] = System.nanoTime() - start;
      step(1);
    }
    return new Figures.Latencies(nanos);
  }

  private void await(Relay relay) throws InterruptedException {
    if (!arrived.tryAcquire(SLOWEST_SECONDS, TimeUnit.SECONDS)) {
      throw new PostriderException(
          "the relay carried nothing for %d s; %s".formatted(SLOWEST_SECONDS, relay.status()));
    }
  }

  private void step(int steps) {
    done += steps;
    if (!watcher.test(done)) {
      throw new StoppedException();
    }
  }

  private static double seconds(long startNanos) {
    return (System.nanoTime() - startNanos) / SECOND;
  }
}
