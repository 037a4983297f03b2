package dev.postrider.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;

/**
 * From just before the last statement of a producer's transaction to the handler in an idle relay
 * in another process, at 200 messages a second; against a bare NOTIFY measured the same way, as the
 * driver hands it over and without the millisecond that the driver waits first. Both processes read
 * the same monotonic clock.
 */
final class LatencyScenario implements Scenario {
  private static final double POLL_INTERVAL_MS = 500;

  @Override
  public String name() {
    return "latency";
  }

  @Override
  public String summary() {
    return "200 messages/s into an idle relay elsewhere, against a bare NOTIFY";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    try (LatencyProbe probe = new LatencyProbe(database)) {
      int perRound = LatencyProbe.perRound(options);
      Rounds rounds = new Rounds(database.meter());
      LatencyProbe.Samples bare = probe.samples("N");
      LatencyProbe.Samples relay = probe.samples("R");
      LatencyProbe.Samples prompt = probe.samples("P");
      rounds.variant(
          "bare notify p50 ms",
          () -> bare.take(perRound, (c, nanos) -> notifyBare(c, "bench_bare", nanos)));
      rounds.variant(
          "prompt notify p50 ms",
          () -> prompt.take(perRound, (c, nanos) -> notifyBare(c, "bench_prompt", nanos)));
      rounds.variant("relay p50 ms", () -> relay.take(perRound, probe::enqueue));
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
    }
  }

  private static void notifyBare(Connection connection, String channel, long nanos)
      throws Exception {
    try (PreparedStatement call = connection.prepareStatement("select pg_notify(?, ?)")) {
      call.setString(1, channel);
      call.setString(2, Long.toString(nanos));
      call.execute();
    }
  }
}
