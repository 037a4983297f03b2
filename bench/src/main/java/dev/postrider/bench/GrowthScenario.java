package dev.postrider.bench;

/** Whether a claim's cost grows with the backlog. */
final class GrowthScenario implements Scenario {
  private static final int SMALL = 100_000;
  private static final int LARGE = 2_000_000;
  private static final int LARGEST = 5_000_000;

  @Override
  public String name() {
    return "growth";
  }

  @Override
  public String summary() {
    return "drain rate with 100,000, 2,000,000 and 5,000,000 waiting";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Drain drain = Drain.of(database, options);
    Shape orders = Shape.topic("orders");
    Rounds warmUp = new Rounds(database.meter());
    warmUp.variant("warm-up", () -> drain.alone(orders, SMALL));
    warmUp.run(2);
    Rounds rounds = new Rounds(database.meter());
    rounds.variant("100k", () -> drain.alone(orders, SMALL));
    rounds.variant("2m", () -> drain.alone(orders, LARGE));
    Rounds.Result result = rounds.run(Math.min(options.drainRounds(), 3));
    report.rates("messages/s", result);
    report.ratio("growth_2m_vs_100k", result.ratio("2m", "100k"));
    Rounds once = new Rounds(database.meter()); // loading it takes longer than draining it
    once.variant("100k", () -> drain.alone(orders, SMALL));
    once.variant("5m", () -> drain.alone(orders, LARGEST));
    Rounds.Result largest = once.run(1);
    report.rates("messages/s", largest);
    report.ratio("growth_5m_vs_100k", largest.ratio("5m", "100k"));
  }
}
