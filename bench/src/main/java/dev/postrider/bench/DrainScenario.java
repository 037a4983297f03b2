package dev.postrider.bench;

import dev.postrider.store.Schema;

/** How fast a relay empties a backlog, against deleting the same rows in batches. */
final class DrainScenario implements Scenario {
  private static final String RAW_ROWS =
      """
      drop table if exists raw_queue;
      create table raw_queue (id uuid primary key, payload text not null);
      insert into raw_queue
      select q.id, convert_from(m.payload, 'UTF8')
        from postrider.queue q join postrider.message m on m.id = q.id order by q.id;
      """;

  @Override
  public String name() {
    return "drain";
  }

  @Override
  public String summary() {
    return "a backlog to a no-op destination, against a raw delete loop";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Backlog backlog = new Backlog(database, Schema.DEFAULT);
    int messages = options.messages();
    Rounds rounds = new Rounds();
    rounds.variant(
        "raw delete",
        () -> {
          backlog.load("orders", messages, null);
          database.execute(RAW_ROWS);
          database.execute("truncate postrider.queue, postrider.message");
          database.settle();
          return Drain.raw(database, messages, options.workers());
        });
    rounds.variant(
        "relay",
        () -> {
          database.execute("truncate postrider.queue, postrider.message, postrider.attempt");
          backlog.load("orders", messages, null);
          database.settle();
          return Drain.relay(database, Schema.DEFAULT, "orders", messages, options.workers());
        });
    rounds.run(1);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("messages/s", result);
    report.ratio("drain_vs_raw_delete", result.ratio("relay", "raw delete"));
  }
}
