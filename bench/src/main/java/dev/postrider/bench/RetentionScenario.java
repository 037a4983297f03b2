package dev.postrider.bench;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The latency of an idle relay while another relay removes a backlog of delivered messages, against
 * the same with nothing to remove. A round with removal starts when rows are going.
 */
final class RetentionScenario implements Scenario {
  private static final String WITHOUT = "without p50 ms";
  private static final String WITH = "with retention p50 ms";

  /** More than the relay can remove in all rounds of the default length. */
  private static final int BACKLOG = 3;

  /** Rounds are longer than those of others: a p99 needs many messages. */
  private static final int ROUND = 5;

  private static final Duration START_MAX = Duration.ofSeconds(30);

  @Override
  public String name() {
    return "retention";
  }

  @Override
  public String summary() {
    return "latency while a relay removes a backlog of old messages, against none";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    int backlog = BACKLOG * options.messages();
    load(database, backlog);
    try (LatencyProbe probe = new LatencyProbe(database)) {
      int perRound = ROUND * LatencyProbe.perRound(options);
      Side without = new Side(database, probe.samples("R"), RetentionConfig.off());
      Side with = new Side(database, probe.samples("R"), removing());
      without.samples.take(perRound, probe::enqueue); // warm-up
      without.samples.all.clear();
      Rounds rounds = new Rounds(database.meter());
      // Both have a second relay, so that the ratio shows the removal only.
      rounds.variant(WITHOUT, () -> without.round(probe, perRound));
      rounds.variant(WITH, () -> with.round(probe, perRound));
      Rounds.Result p50 = rounds.run(options.rounds());
      Rounds.Result p99 = new Rounds.Result(Map.of(WITHOUT, without.p99, WITH, with.p99), Map.of());
      report.rates("ms", p50);
      report.ratio("latency_p50_retention_vs_none", p50.ratio(WITH, WITHOUT));
      report.ratio("latency_p99_retention_vs_none", p99.ratio(WITH, WITHOUT));
      report.row(
          "p99 ms, median of the rounds",
          "without %.2f".formatted(p99.median(WITHOUT)),
          "with %.2f".formatted(p99.median(WITH)),
          "%,d of %,d messages removed".formatted(with.removed, backlog));
      report.figure("latency_p99_ms", p99.median(WITHOUT));
      report.figure("latency_p99_retention_ms", p99.median(WITH));
      report.figure("messages_removed", (double) with.removed);
    }
  }

  private static void load(BenchDatabase database, int messages) throws Exception {
    Backlog backlog = new Backlog(database, Schema.DEFAULT);
    backlog.load(Shape.topic("old"), messages);
    backlog.dropSince("00000000-0000-0000-0000-000000000000"); // out of the queue: delivered
    database.execute("update postrider.engine set least_retention = '0'");
    database.settle();
  }

  private static RetentionConfig removing() {
    return RetentionConfig.off()
        .withInterval(Duration.ofSeconds(1))
        .withPeriod(RetentionTask.MESSAGES, Duration.ofSeconds(1));
  }

  /** One of the two variants. Used by one thread. */
  private static final class Side {
    private final BenchDatabase database;
    private final LatencyProbe.Samples samples;
    private final RetentionConfig retention;
    private final List<Double> p99 = new ArrayList<>();
    private long removed;

    Side(BenchDatabase database, LatencyProbe.Samples samples, RetentionConfig retention) {
      this.database = database;
      this.samples = samples;
      this.retention = retention;
    }

    /** Beside a relay of a namespace without messages; returns the median. */
    double round(LatencyProbe probe, int messages) throws Exception {
      try (Relay relay =
          Relay.builder(database.dataSource())
              .retention(retention)
              .destination("none", HandlerDestination.inline(message -> Outcome.delivered()))
              .route("none", "*", "none")
              .build()
              .start()) {
        boolean removes = !retention.periods().isEmpty();
        if (removes) {
          awaitRemoval();
        }
        int before = samples.all.size();
        long stored = old();
        double median = samples.take(messages, probe::enqueue);
        p99.add(Rounds.Result.percentile(samples.all.subList(before, samples.all.size()), 0.99));
        long left = old();
        removed += stored - left;
        if (removes && left == 0) {
          throw new IllegalStateException("all old messages were removed; give more --messages");
        }
        return median;
      }
    }

    private void awaitRemoval() throws Exception {
      long stored = old();
      long deadline = System.nanoTime() + START_MAX.toNanos();
      while (old() == stored) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException("nothing is removed");
        }
        Thread.sleep(100);
      }
    }

    private long old() throws Exception {
      return database.count(
          "select count(*) from postrider.message m join postrider.route r on r.id = m.route"
              + " where r.topic = 'old'");
    }
  }
}
