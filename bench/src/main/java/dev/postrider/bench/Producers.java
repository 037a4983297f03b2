package dev.postrider.bench;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Producers that commit one transaction after the other, each on its own connection, which is kept
 * between rounds as a pool would keep it. One caller at a time.
 */
final class Producers implements AutoCloseable {
  private final Meter meter;
  private final List<Connection> connections = new ArrayList<>();
  private final ExecutorService threads;
  private final LongAdder committed = new LongAdder();
  private volatile boolean stop;

  /** The writes of one transaction; the commit follows. */
  interface Writes {
    void write(Connection connection) throws SQLException;
  }

  Producers(BenchDatabase database, int count) throws SQLException {
    this.meter = database.meter();
    for (int i = 0; i < count; i++) {
      connections.add(database.transaction());
    }
    this.threads = Executors.newFixedThreadPool(count);
  }

  /** Commits per second over the given time, after a warm-up. */
  double rate(Duration warmUp, Duration time, Writes writes) throws SQLException {
    stop = false;
    List<Future<?>> running = new ArrayList<>();
    for (Connection connection : connections) {
      running.add(threads.submit(() -> produce(connection, writes)));
    }
    try {
      TimeUnit.NANOSECONDS.sleep(warmUp.toNanos());
      meter.start();
      long from = System.nanoTime();
      long before = committed.sum();
      TimeUnit.NANOSECONDS.sleep(time.toNanos());
      long done = committed.sum() - before;
      double seconds = (System.nanoTime() - from) / 1e9;
      meter.stop(done);
      return done / seconds;
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted while measuring", e);
    } finally {
      stop = true;
      await(running);
    }
  }

  private Void produce(Connection connection, Writes writes) throws SQLException {
    while (!stop) {
      writes.write(connection);
      connection.commit();
      committed.increment();
    }
    return null;
  }

  private static void await(List<Future<?>> running) {
    for (Future<?> producer : running) {
      try {
        producer.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("a producer failed", e.getCause());
      } catch (InterruptedException e) {
        throw new IllegalStateException("interrupted while producers stop", e);
      }
    }
  }

  @Override
  public void close() throws SQLException {
    threads.shutdown();
    for (Connection connection : connections) {
      connection.close();
    }
  }
}
