package dev.postrider.bench;

import dev.postrider.store.Schema;

/**
 * Healthy traffic in a schema where nothing else waits, and in one where 200,000 messages wait for
 * a paused topic and 100,000 behind the dead head of one key.
 */
final class BlockedScenario implements Scenario {
  private static final int PAUSED = 200_000;
  private static final int BEHIND_BLOCKED = 100_000;
  private static final Schema CROWDED = new Schema("crowded");

  /** The first message of the key is dead and blocks it. */
  private static final String BLOCK_HEAD =
      """
      update crowded.queue q set blocked = true, lane = -1 - q.lane, due_at = 'infinity'
        from crowded.ordering_key k
       where k.key = 'blocked' and q.key_id = k.id and q.sequence = 1;
      insert into crowded.pause (kind, name, paused_by) values ('topic', 'bench/paused', 'bench');
      """;

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
    database.migrate(CROWDED);
    Backlog crowd = new Backlog(database, CROWDED);
    crowd.load("paused", PAUSED, null);
    crowd.load("stuck", BEHIND_BLOCKED, "'blocked'");
    database.execute(BLOCK_HEAD);
    Rounds rounds = new Rounds(database.meter());
    rounds.variant("normal", () -> drain(database, Schema.DEFAULT, options));
    rounds.variant("blocked", () -> drain(database, CROWDED, options));
    rounds.run(1);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("messages/s", result);
    report.ratio("blocked_vs_normal", result.ratio("blocked", "normal"));
  }

  private static double drain(BenchDatabase database, Schema schema, Options options)
      throws Exception {
    new Backlog(database, schema).load("orders", options.messages(), "'k' || g % 1000");
    database.settle();
    return Drain.relay(database, schema, "*", options.messages(), options.workers());
  }
}
