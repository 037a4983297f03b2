package dev.postrider.bench;

import dev.postrider.operations.Pauses;
import dev.postrider.schema.Schema;

/**
 * Healthy traffic in a schema where nothing else waits, and in one where 200,000 messages wait for
 * a paused topic and 100,000 behind the dead head of one key.
 */
final class BlockedScenario implements Scenario {
  private static final int PAUSED = 200_000;
  private static final int BEHIND_BLOCKED = 100_000;
  private static final Schema CROWDED = new Schema("crowded");

  @Override
  public String name() {
    return "blocked";
  }

  @Override
  public String summary() {
    return "healthy traffic beside a paused topic and a blocked key";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Drain normal = Drain.of(database, options);
    Drain crowded = new Drain(database, CROWDED, options.workers());
    database.migrate(CROWDED);
    Shape stuck = Shape.topic("stuck").key("'blocked'");
    crowded.backlog().load(stuck, 1);
    crowded.block(1);
    crowded.backlog().load(stuck, BEHIND_BLOCKED);
    crowded.backlog().load(Shape.topic("paused"), PAUSED);
    new Pauses(database.dataSource(), CROWDED).pause("bench", Pauses.Kind.TOPIC, "bench/paused");
    Shape healthy = Shape.topic("orders").keyed();
    Rounds rounds = new Rounds(database.meter());
    rounds.variant("normal", () -> normal.beside(healthy, options.messages()));
    rounds.variant("blocked", () -> crowded.beside(healthy, options.messages()));
    rounds.run(1);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("messages/s", result);
    report.ratio("blocked_vs_normal", result.ratio("blocked", "normal"));
  }
}
