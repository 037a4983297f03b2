package dev.postrider.bench;

/** How fast a relay empties a backlog, against deleting the same rows in batches. */
final class DrainScenario implements Scenario {
  @Override
  public String name() {
    return "drain";
  }

  @Override
  public String summary() {
    return "a backlog to a no-op destination, against a raw delete loop";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Drain drain = Drain.of(database, options);
    Shape orders = Shape.topic("orders");
    int messages = options.messages();
    Rounds rounds = new Rounds(database.meter());
    rounds.variant(
        "raw delete",
        () -> {
          drain.backlog().load(orders, messages);
          RawDelete.prepare(database);
          return RawDelete.rate(database, messages, options.workers());
        });
    rounds.variant("relay", () -> drain.alone(orders, messages));
    rounds.run(1);
    Rounds.Result result = rounds.run(options.rounds()); // the noisiest drains
    report.rates("messages/s", result);
    report.ratio("drain_vs_raw_delete", result.ratio("relay", "raw delete"));
  }
}
