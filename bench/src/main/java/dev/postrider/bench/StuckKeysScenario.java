package dev.postrider.bench;

import dev.postrider.store.Schema;

/**
 * Healthy keys beside many keys that wait behind a dead message, two messages each. All are of one
 * topic, and their numbers are evenly mixed. Each number of stuck keys has a schema of its own,
 * where they stay from round to round: what a relay does once about them is in the first drain.
 */
final class StuckKeysScenario implements Scenario {
  private static final int FEW = 1_000;
  private static final int MANY = 100_000;
  private static final int FOLLOWERS = 2;
  private static final Shape HEALTHY = Shape.topic("orders").keyed();

  @Override
  public String name() {
    return "stuck-keys";
  }

  @Override
  public String summary() {
    return "healthy keys beside 1,000 and 100,000 keys that wait behind a dead message";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    int few = options.scaled(FEW);
    int many = options.scaled(MANY);
    Rounds rounds = new Rounds(database.meter());
    variant(rounds, "none", 0, database, options);
    variant(rounds, "1k", few, database, options);
    variant(rounds, "100k", many, database, options);
    double coldSeconds = options.messages() / rounds.run(1).median("100k");
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("messages/s", result);
    report.row("stuck keys of 1k and 100k", Integer.toString(few), Integer.toString(many));
    report.row("first drain of 100k, s", Report.number(coldSeconds));
    report.figure("stuck_keys_1k", few);
    report.figure("stuck_keys_100k", many);
    report.figure("stuck_100k_first_drain_seconds", coldSeconds);
    report.figure("stuck_1k_vs_none", result.ratio("1k", "none"));
    report.ratio("stuck_100k_vs_none", result.ratio("100k", "none"));
  }

  private static void variant(
      Rounds rounds, String name, int stuck, BenchDatabase database, Options options)
      throws Exception {
    Drain drain = new Drain(database, new Schema("stuck_" + name), options.workers());
    database.migrate(drain.schema());
    drain.backlog().keys(mixed(stuck), Shape.KEYS + stuck);
    if (stuck > 0) {
      Shape behind = Shape.topic("orders").key("'stuck-' || g % " + stuck);
      drain.backlog().load(behind, stuck);
      drain.block(stuck);
      drain.backlog().load(behind, FOLLOWERS * stuck);
    }
    rounds.variant(name, () -> drain.beside(HEALTHY, options.messages()));
  }

  /** Spreads the healthy keys evenly among the stuck ones. */
  private static String mixed(int stuck) {
    return """
    case when g * %1$d / %2$d > (g - 1) * %1$d / %2$d then 'k' || g * %1$d / %2$d - 1
         else 'stuck-' || g - g * %1$d / %2$d - 1 end
    """
        .formatted(Shape.KEYS, Shape.KEYS + stuck);
  }
}
