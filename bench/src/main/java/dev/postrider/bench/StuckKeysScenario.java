package dev.postrider.bench;

import dev.postrider.schema.Schema;

/**
 * Healthy keys beside many keys that wait behind a dead message, two messages each. All are of one
 * topic, and their numbers are evenly mixed. Each number of stuck keys has a schema of its own,
 * where they stay from round to round: what a relay does once about them is in the first drain.
 */
final class StuckKeysScenario implements Scenario {
  private static final int FEW = 1_000;
  private static final int MANY = 100_000;
  private static final int FOLLOWERS = 2;
  private static final long FIRST_LIMIT_SECONDS = 600;
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
    Drain none = variant(rounds, "none", 0, database, options);
    variant(rounds, "1k", few, database, options);
    Drain most = variant(rounds, "100k", many, database, options);
    double noneSeconds = first(none, options);
    double mostSeconds = first(most, options);
    rounds.run(1);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("messages/s", result);
    report.row(
        "first drain of none and 100k, s", Report.number(noneSeconds), Report.number(mostSeconds));
    report.row("stuck keys of 1k and 100k", Integer.toString(few), Integer.toString(many));
    report.figure("stuck_keys_1k", few);
    report.figure("stuck_keys_100k", many);
    report.figure("first_drain_none_seconds", noneSeconds);
    report.figure("first_drain_100k_seconds", mostSeconds);
    report.figure("stuck_1k_vs_none", result.ratio("1k", "none"));
    report.ratio("stuck_100k_vs_none", result.ratio("100k", "none"));
  }

  private static double first(Drain drain, Options options) throws Exception {
    return drain.secondsBeside(HEALTHY, options.messages(), FIRST_LIMIT_SECONDS);
  }

  private static Drain variant(
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
    return drain;
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
