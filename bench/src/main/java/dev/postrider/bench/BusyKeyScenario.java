package dev.postrider.bench;

import dev.postrider.message.NewMessage;

/** Latency of a hundred keys while one other key has a long backlog in the same topic. */
final class BusyKeyScenario implements Scenario {
  @Override
  public String name() {
    return "busy-key";
  }

  @Override
  public String summary() {
    return "latency of 100 keys beside one with 100,000 waiting, 4 handlers of 200 us each";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Neighbours neighbours = new Neighbours(database, options);
    neighbours.variants(
        "key",
        number -> NewMessage.to("bench", "orders").key("quiet-" + number),
        Shape.topic("orders").key("'busy'"));
    Rounds.Result result = neighbours.run(report);
    report.ratio("busy_key_others_p99_vs_idle", result.ratio("busy key", "idle key"));
  }
}
