package dev.postrider.bench;

import dev.postrider.store.Schema;
import org.jspecify.annotations.Nullable;

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
    Rounds rounds = new Rounds(database.meter());
    variant(rounds, "no keys", null, database, options);
    variant(rounds, "1000 keys", "'k' || g % 1000", database, options);
    variant(rounds, "hot key", "'hot'", database, options);
    rounds.run(1);
    Rounds.Result result = rounds.run(options.rounds()); // the noisiest drains
    report.rates("messages/s", result);
    report.ratio("ordered_vs_drain", result.ratio("1000 keys", "no keys"));
    report.ratio("hot_key_vs_drain", result.ratio("hot key", "no keys"));
  }

  private static void variant(
      Rounds rounds, String name, @Nullable String key, BenchDatabase database, Options options) {
    rounds.variant(
        name,
        () -> {
          database.execute("truncate postrider.queue, postrider.message, postrider.attempt");
          new Backlog(database, Schema.DEFAULT).load("orders", options.messages(), key);
          database.settle();
          return Drain.relay(
              database, Schema.DEFAULT, "orders", options.messages(), options.workers());
        });
  }
}
