package dev.postrider.bench;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.schema.Schema;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A backlog of ten topics where few topics are known, and where many are; and what a relay that
 * serves them all costs while nothing happens. Each number of topics has a schema of its own.
 */
final class TopicsScenario implements Scenario {
  private static final int ACTIVE = 10;
  private static final int SOME = 1_000;
  private static final int MANY = 50_000;
  private static final long IDLE_ROUNDS = 3;

  @Override
  public String name() {
    return "topics";
  }

  @Override
  public String summary() {
    return "10 busy topics of 10, 1,000 and 50,000 known ones, and an idle relay for them";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    int some = Math.max(ACTIVE, options.scaled(SOME));
    int many = Math.max(ACTIVE, options.scaled(MANY));
    Rounds rounds = new Rounds(database.meter());
    Drain drainFew = variant(rounds, "10", ACTIVE, database, options);
    variant(rounds, "1k", some, database, options);
    Drain drainMany = variant(rounds, "50k", many, database, options);
    rounds.run(1);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("messages/s", result);
    report.row("topics of 1k and 50k", Integer.toString(some), Integer.toString(many));
    report.figure("topics_1k", some);
    report.figure("topics_50k", many);
    report.figure("topics_1k_vs_10", result.ratio("1k", "10"));
    report.ratio("topics_50k_vs_10", result.ratio("50k", "10"));
    report.heading("idle relay, % of a core", "server", "relay");
    idle("10", drainFew, options, report);
    idle("50k", drainMany, options, report);
  }

  private static Drain variant(
      Rounds rounds, String name, int topics, BenchDatabase database, Options options)
      throws Exception {
    Drain drain = new Drain(database, new Schema("topics_" + name), options.workers());
    database.migrate(drain.schema());
    drain.backlog().topics("'t' || g - 1", topics);
    String active = "'t' || g %% %d * %d".formatted(ACTIVE, topics / ACTIVE);
    Shape shape = new Shape(active, null, null);
    rounds.variant(name, () -> drain.alone(shape, options.messages()));
    return drain;
  }

  private static void idle(String name, Drain drain, Options options, Report report)
      throws Exception {
    long millis = IDLE_ROUNDS * options.round().toMillis();
    Meter.Cost cost = cost(drain, options, millis);
    double server = cost == null ? Double.NaN : cost.serverMicros() / millis / 10;
    double client = cost == null ? Double.NaN : cost.clientMicros() / millis / 10;
    report.row(name + " topics", Report.number(server), Report.number(client));
    report.figure("idle_" + name + "_server_cpu_percent", server);
    report.figure("idle_" + name + "_relay_cpu_percent", client);
  }

  /** What a relay and its server use while nothing happens; null if that is not known. */
  private static Meter.@Nullable Cost cost(Drain drain, Options options, long millis)
      throws InterruptedException {
    Meter meter = drain.database().meter();
    try (Relay relay =
        new Relays(drain.database(), drain.schema(), options.workers())
            .to(HandlerDestination.inline(message -> Outcome.delivered()))) {
      relay.start();
      Relays.awaitListening(relay);
      TimeUnit.MILLISECONDS.sleep(millis / IDLE_ROUNDS); // it looks around first
      meter.start();
      TimeUnit.MILLISECONDS.sleep(millis);
      meter.stop(1);
      return meter.take();
    }
  }
}
