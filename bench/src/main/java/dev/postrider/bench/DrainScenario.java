package dev.postrider.bench;

import dev.postrider.store.Schema;

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
    Backlog backlog = new Backlog(database, Schema.DEFAULT);
    int messages = options.messages();
    Rounds rounds = new Rounds(database.meter());
    rounds.variant(
        "raw delete",
        () -> {
          backlog.load("orders", messages, null);
          Drain.prepareRaw(database);
          return Drain.raw(database, messages, options.workers());
        });
    rounds.variant(
        "relay",
        () -> {
          database.execute("truncate postrider.queue, postrider.message, postrider.attempt");
          backlog.load("orders", messages, null);
          database.settle();
          return Drain.relay(database, Schema.DEFAULT, "orders", messages, options.workers());
        });
    rounds.run(1);
    Rounds.Result result = rounds.run(options.rounds()); // the noisiest drains
    report.rates("messages/s", result);
    report.ratio("drain_vs_raw_delete", result.ratio("relay", "raw delete"));
  }
}
