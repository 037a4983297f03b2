package dev.postrider.bench;

import dev.postrider.message.NewMessage;
import dev.postrider.schema.Schema;

/**
 * Latency of a hundred topics while one other topic has a long backlog for the same destination,
 * and of a hundred tenants while one other tenant has it in the same topic. Nothing has a key.
 */
final class BusyTopicScenario implements Scenario {
  @Override
  public String name() {
    return "busy-topic";
  }

  @Override
  public String summary() {
    return "latency of 100 topics, and tenants, beside one with 100,000 waiting, likewise";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Shape orders = Shape.topic("orders");
    new Backlog(database, Schema.DEFAULT).topics("'quiet-' || g - 1", Neighbours.QUIET);
    Neighbours neighbours = new Neighbours(database, options);
    neighbours.variants("topic", number -> NewMessage.to("bench", "quiet-" + number), orders);
    neighbours.variants(
        "tenant",
        number -> NewMessage.to("bench", "orders").tenant("quiet-" + number),
        orders.tenant("'busy'"));
    Rounds.Result result = neighbours.run(report);
    report.ratio("busy_topic_others_p99_vs_idle", result.ratio("busy topic", "idle topic"));
    report.ratio("busy_tenant_others_p99_vs_idle", result.ratio("busy tenant", "idle tenant"));
  }
}
