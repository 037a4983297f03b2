package dev.postrider.bench;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * From just before the last statement of a producer's transaction to the handler in an idle relay
 * in another process, at 200 messages a second; against a bare NOTIFY measured the same way, as the
 * driver hands it over and without the millisecond that the driver waits first. Both processes read
 * the same monotonic clock.
 */
final class LatencyScenario implements Scenario {
  private static final long PERIOD_NANOS = 5_000_000;
  private static final double POLL_INTERVAL_MS = 500;

  @Override
  public String name() {
    return "latency";
  }

  @Override
  public String summary() {
    return "200 messages/s into an idle relay elsewhere, against a bare NOTIFY";
  }

  /** The last statement of a transaction, with the time in it. */
  private interface Send {
    void send(Connection connection, long nanos) throws Exception;
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    database.execute("create table business (id bigint generated always as identity, at bigint)");
    database.execute("select postrider.enqueue('bench', 'latency', '0')");
    Outbox outbox = new Outbox();
    ConcurrentLinkedQueue<String> heard = new ConcurrentLinkedQueue<>();
    Process receiver = receiver(database.jdbcUrl());
    try (Connection connection = database.transaction()) {
      Thread reader = new Thread(() -> read(receiver, heard), "latency-reader");
      reader.start();
      while (receiver.isAlive() && !heard.contains("ready")) {
        LockSupport.parkNanos(1_000_000);
      }
      int perRound = (int) (options.round().toNanos() / PERIOD_NANOS);
      Rounds rounds = new Rounds(database.meter());
      Samples bare = new Samples(connection, heard, "N");
      Samples relay = new Samples(connection, heard, "R");
      Samples prompt = new Samples(connection, heard, "P");
      rounds.variant(
          "bare notify p50 ms",
          () -> bare.take(perRound, (c, nanos) -> notifyBare(c, "bench_bare", nanos)));
      rounds.variant(
          "prompt notify p50 ms",
          () -> prompt.take(perRound, (c, nanos) -> notifyBare(c, "bench_prompt", nanos)));
      rounds.variant(
          "relay p50 ms",
          () -> relay.take(perRound, (c, nanos) -> outbox.enqueue(c, message(nanos))));
      rounds.run(2);
      bare.all.clear();
      prompt.all.clear();
      relay.all.clear();
      Rounds.Result result = rounds.run(options.rounds());
      report.rates("ms", result);
      report.ratio("latency_p50_vs_notify", result.ratio("relay p50 ms", "bare notify p50 ms"));
      report.figure(
          "latency_p50_vs_prompt_notify", result.ratio("relay p50 ms", "prompt notify p50 ms"));
      for (double share : new double[] {0.5, 0.99}) {
        report.row(
            "p" + Math.round(share * 100) + " ms, all rounds",
            "bare %.2f".formatted(bare.percentile(share)),
            "prompt %.2f".formatted(prompt.percentile(share)),
            "relay %.2f".formatted(relay.percentile(share)));
      }
      report.figure("latency_p99_ms", relay.percentile(0.99));
      report.figure("notify_p99_ms", bare.percentile(0.99));
      report.figure("poll_interval_ms", POLL_INTERVAL_MS);
    } finally {
      receiver.destroy();
    }
  }

  private static NewMessage message(long nanos) {
    return NewMessage.to("bench", "latency").json(Long.toString(nanos)).build();
  }

  private static void notifyBare(Connection connection, String channel, long nanos)
      throws Exception {
    try (PreparedStatement call = connection.prepareStatement("select pg_notify(?, ?)")) {
      call.setString(1, channel);
      call.setString(2, Long.toString(nanos));
      call.execute();
    }
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

  private static void read(Process receiver, ConcurrentLinkedQueue<String> heard) {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(receiver.getInputStream(), StandardCharsets.UTF_8))) {
      lines.lines().forEach(heard::add);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sends at a steady pace and collects what the other process measured. */
  private static final class Samples {
    final List<Double> all = new ArrayList<>();
    private final Connection connection;
    private final ConcurrentLinkedQueue<String> heard;
    private final String tag;

    Samples(Connection connection, ConcurrentLinkedQueue<String> heard, String tag) {
      this.connection = connection;
      this.heard = heard;
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
