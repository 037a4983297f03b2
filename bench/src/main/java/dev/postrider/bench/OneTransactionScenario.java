package dev.postrider.bench;

import dev.postrider.bench.peer.Payload;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Whether a message costs more the longer its transaction is: 4,000 and 40,000 enqueues, one call
 * each, for one key in one transaction. A transaction that takes too long is rolled back: what it
 * enqueued until then gives its rate, which is then too good, and a line on stderr says so.
 */
final class OneTransactionScenario implements Scenario {
  private static final int LONG = 40_000;
  private static final int SHORT_PART = 10;
  private static final long LIMIT_SECONDS = 120;

  @Override
  public String name() {
    return "one-transaction";
  }

  @Override
  public String summary() {
    return "4,000 and 40,000 enqueues for one key in one transaction";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    int many = options.scaled(LONG);
    int few = Math.max(1, many / SHORT_PART);
    Rounds rounds = new Rounds(database.meter());
    rounds.variant("4k", () -> rate(database, few));
    rounds.variant("40k", () -> rate(database, many));
    rounds.run(1);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("messages/s", result);
    report.row("messages of 4k and 40k", Integer.toString(few), Integer.toString(many));
    report.figure("messages_4k", few);
    report.figure("messages_40k", many);
    report.ratio("one_transaction_40k_vs_4k", result.ratio("40k", "4k"));
  }

  private static double rate(BenchDatabase database, int messages) throws SQLException {
    new Backlog(database, Schema.DEFAULT).clear();
    database.settle();
    Outbox outbox = new Outbox();
    try (Connection connection = database.transaction()) {
      database.meter().start();
      long start = System.nanoTime();
      long deadline = start + LIMIT_SECONDS * 1_000_000_000;
      int done = 0;
      while (done < messages && System.nanoTime() < deadline) {
        String payload = Payload.json(done);
        outbox.enqueue(
            connection, NewMessage.to("bench", "orders").key("hot").json(payload).build());
        done++;
      }
      if (done == messages) {
        connection.commit();
      } else {
        connection.rollback();
        System.err.printf(
            "a transaction was stopped after %d s: %d of %d messages were enqueued%n",
            LIMIT_SECONDS, done, messages);
      }
      double rate = done / ((System.nanoTime() - start) / 1e9);
      database.meter().stop(done);
      return rate;
    }
  }
}
