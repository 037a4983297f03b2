package dev.postrider.bench;

/** What order costs: a thousand keys, and a single hot one, against no keys. */
final class OrderedScenario implements Scenario {
  @Override
  public String name() {
    return "ordered";
  }

  @Override
  public String summary() {
    return "1,000 keys, and one hot key, against no keys";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Drain drain = Drain.of(database, options);
    Shape orders = Shape.topic("orders");
    int messages = options.messages();
    Rounds rounds = new Rounds(database.meter());
    rounds.variant("no keys", () -> drain.alone(orders, messages));
    rounds.variant("1000 keys", () -> drain.alone(orders.keyed(), messages));
    rounds.variant("hot key", () -> drain.alone(orders.key("'hot'"), messages));
    rounds.run(1);
    Rounds.Result result = rounds.run(options.rounds()); // the noisiest drains
    report.rates("messages/s", result);
    report.ratio("ordered_vs_drain", result.ratio("1000 keys", "no keys"));
    report.ratio("hot_key_vs_drain", result.ratio("hot key", "no keys"));
  }
}
