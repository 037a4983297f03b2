package dev.postrider.bench;

import java.sql.Connection;
import java.sql.Statement;

/**
 * A backlog drained while another session holds an old snapshot, so that nothing dead is removed:
 * without keys, with a thousand, and with a single hot one.
 */
final class HeldSnapshotScenario implements Scenario {
  @Override
  public String name() {
    return "held-xmin";
  }

  @Override
  public String summary() {
    return "drain while another session holds an old snapshot, with and without keys";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Drain drain = Drain.of(database, options);
    Shape orders = Shape.topic("orders");
    Rounds rounds = new Rounds(database.meter());
    variants(rounds, "", orders, drain, options);
    variants(rounds, " 1000 keys", orders.keyed(), drain, options);
    variants(rounds, " hot key", orders.key("'hot'"), drain, options);
    rounds.run(1);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("messages/s", result);
    report.ratio("held_xmin_vs_normal", result.ratio("held", "normal"));
    report.ratio("held_xmin_keyed_vs_normal", result.ratio("held 1000 keys", "normal 1000 keys"));
    report.figure("held_xmin_hot_key_vs_normal", result.ratio("held hot key", "normal hot key"));
  }

  private static void variants(
      Rounds rounds, String suffix, Shape shape, Drain drain, Options options) {
    rounds.variant("normal" + suffix, () -> drain.alone(shape, options.messages()));
    rounds.variant("held" + suffix, () -> held(drain, shape, options.messages()));
  }

  private static double held(Drain drain, Shape shape, int messages) throws Exception {
    drain.load(shape, messages);
    try (Connection holder = drain.database().transaction();
        Statement statement = holder.createStatement()) {
      holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      statement.execute("select count(*) from pg_class"); // takes the snapshot
      return drain.rate(messages);
    }
  }
}
