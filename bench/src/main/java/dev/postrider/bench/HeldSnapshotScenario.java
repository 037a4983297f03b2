package dev.postrider.bench;

import dev.postrider.store.Schema;
import java.sql.Connection;
import java.sql.Statement;

/**
 * A backlog drained while another session holds an old snapshot, so that nothing dead is removed.
 */
final class HeldSnapshotScenario implements Scenario {
  @Override
  public String name() {
    return "held-xmin";
  }

  @Override
  public String summary() {
    return "drain while another session holds an old snapshot";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Rounds rounds = new Rounds(database.meter());
    rounds.variant("normal", () -> drain(database, options));
    rounds.variant("held", () -> drainHeld(database, options));
    rounds.run(1);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("messages/s", result);
    report.ratio("held_xmin_vs_normal", result.ratio("held", "normal"));
  }

  private static double drain(BenchDatabase database, Options options) throws Exception {
    load(database, options);
    return Drain.relay(database, Schema.DEFAULT, "orders", options.messages(), options.workers());
  }

  private static double drainHeld(BenchDatabase database, Options options) throws Exception {
    load(database, options);
    try (Connection holder = database.transaction();
        Statement statement = holder.createStatement()) {
      holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      statement.execute("select count(*) from postrider.route");
      return Drain.relay(database, Schema.DEFAULT, "orders", options.messages(), options.workers());
    }
  }

  private static void load(BenchDatabase database, Options options) throws Exception {
    database.execute("truncate postrider.queue, postrider.message, postrider.attempt");
    new Backlog(database, Schema.DEFAULT).load("orders", options.messages(), null);
    database.settle();
  }
}
