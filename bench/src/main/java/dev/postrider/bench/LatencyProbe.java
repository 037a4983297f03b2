package dev.postrider.bench;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures the time from just before the last statement of a producer's transaction to the receiver
 * in another process, at 200 messages a second. Both processes read the same monotonic clock. Used
 * by one thread.
 */
final class LatencyProbe implements AutoCloseable {
  private static final long PERIOD_NANOS = 5_000_000;

  private final ConcurrentLinkedQueue<String> heard = new ConcurrentLinkedQueue<>();
  private final Outbox outbox = new Outbox();
  private final Process receiver;
  private final Connection connection;

  /** The last statement of a transaction, with the time in it. */
  interface Send {
    void send(Connection connection, long nanos) throws Exception;
  }

  /** Starts the other process and waits until it listens. */
  LatencyProbe(BenchDatabase database) throws SQLException, IOException {
    database.execute("create table business (id bigint generated always as identity, at bigint)");
    database.execute("select postrider.enqueue('bench', 'latency', '0')");
    connection = database.transaction();
    receiver = receiver(database.jdbcUrl());
    new Thread(this::read, "latency-reader").start();
    while (receiver.isAlive() && !heard.contains("ready")) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** What the receiver prints under this tag. */
  Samples samples(String tag) {
    return new Samples(tag);
  }

  /** Enqueues a message for the relay in the other process. */
  void enqueue(Connection producer, long nanos) throws SQLException {
    outbox.enqueue(producer, NewMessage.to("bench", "latency").json(Long.toString(nanos)).build());
  }

  static int perRound(Options options) {
    return (int) (options.round().toNanos() / PERIOD_NANOS);
  }

  @Override
  public void close() throws SQLException {
    receiver.destroy();
    connection.close();
  }

  private static Process receiver(String url) throws IOException {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElse("java"),
            "-cp",
            System.getProperty("java.class.path"),
            LatencyReceiver.class.getName(),
            url)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private void read() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(receiver.getInputStream(), StandardCharsets.UTF_8))) {
      lines.lines().forEach(heard::add);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sends at a steady pace and collects what the other process measured. */
  final class Samples {
    final List<Double> all = new ArrayList<>();
    private final String tag;

    private Samples(String tag) {
      this.tag = tag;
    }

    /** The median of a round, in milliseconds. */
    double take(int count, Send send) throws Exception {
      heard.clear();
      long next = System.nanoTime();
      try (PreparedStatement business =
          connection.prepareStatement("insert into business (at) values (?)")) {
        for (int i = 0; i < count; i++) {
          next += PERIOD_NANOS;
          while (System.nanoTime() < next) {
            LockSupport.parkNanos(next - System.nanoTime());
          }
          business.setLong(1, next);
          business.executeUpdate();
          send.send(connection, System.nanoTime());
          connection.commit();
        }
      }
      List<Double> round = new ArrayList<>();
      long deadline = System.nanoTime() + 10_000_000_000L;
      while (round.size() < count && System.nanoTime() < deadline) {
        String line = heard.poll();
        if (line == null) {
          LockSupport.parkNanos(1_000_000);
        } else if (line.startsWith(tag)) {
          round.add(Long.parseLong(line.substring(1)) / 1e6);
        }
      }
      if (round.size() < count) {
        throw new IllegalStateException("only " + round.size() + " of " + count + " arrived");
      }
      all.addAll(round);
      return Rounds.Result.median(round);
    }

    double percentile(double share) {
      return Rounds.Result.percentile(all, share);
    }
  }
}
