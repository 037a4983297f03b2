package dev.postrider.bench;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * The latency of an idle relay while another relay removes delivered messages without a pause
 * between its runs, against the same without it.
 */
final class RetentionScenario implements Scenario {
  private static final String WITHOUT = "without p50 ms";
  private static final String WITH = "with retention p50 ms";

  @Override
  public String name() {
    return "retention";
  }

  @Override
  public String summary() {
    return "latency while a relay removes old messages, against none";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Backlog backlog = new Backlog(database, Schema.DEFAULT);
    backlog.load(Shape.topic("old"), options.messages());
    backlog.dropSince("00000000-0000-0000-0000-000000000000"); // out of the queue: delivered
    database.execute("update postrider.engine set least_retention = '0'");
    database.settle();
    long stored = messages(database);
    try (LatencyProbe probe = new LatencyProbe(database)) {
      LatencyProbe.Samples without = probe.samples("R");
      LatencyProbe.Samples with = probe.samples("R");
      int perRound = LatencyProbe.perRound(options);
      without.take(perRound, probe::enqueue); // warm-up
      without.all.clear();
      Rounds rounds = new Rounds(database.meter());
      // Both have a second relay, so that the ratio shows the removal only.
      rounds.variant(
          WITHOUT,
          () -> beside(database, RetentionConfig.off(), () -> take(without, probe, perRound)));
      rounds.variant(WITH, () -> beside(database, removing(), () -> take(with, probe, perRound)));
      Rounds.Result result = rounds.run(options.rounds());
      long removed = stored + perRound * (2L * options.rounds() + 1) - messages(database);
      report.rates("ms", result);
      report.ratio("latency_p50_retention_vs_none", result.ratio(WITH, WITHOUT));
      report.ratio(
          "latency_p99_retention_vs_none", with.percentile(0.99) / without.percentile(0.99));
      report.row(
          "p99 ms, all rounds",
          "without %.2f".formatted(without.percentile(0.99)),
          "with %.2f".formatted(with.percentile(0.99)),
          removed + " removed");
      report.figure("messages_removed", (double) removed);
    }
  }

  private static double take(LatencyProbe.Samples samples, LatencyProbe probe, int count)
      throws Exception {
    return samples.take(count, probe::enqueue);
  }

  private static RetentionConfig removing() {
    return RetentionConfig.off()
        .withInterval(Duration.ofSeconds(1))
        .withPeriod(RetentionTask.MESSAGES, Duration.ofSeconds(1));
  }

  /** Runs beside a relay of a namespace without messages. */
  private static double beside(
      BenchDatabase database, RetentionConfig retention, Callable<Double> round) throws Exception {
    try (Relay relay =
        Relay.builder(database.dataSource())
            .retention(retention)
            .destination("none", HandlerDestination.inline(message -> Outcome.delivered()))
            .route("none", "*", "none")
            .build()
            .start()) {
      return round.call();
    }
  }

  private static long messages(BenchDatabase database) throws Exception {
    return database.count("select count(*) from postrider.message");
  }
}
