package dev.postrider.examples.usagebilling;

import static org.awaitility.Awaitility.await;

import dev.postrider.enqueue.Outbox;
import dev.postrider.examples.stage.Stage;
import dev.postrider.testkit.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** A chat product on a server of its own. Thread-safe. */
final class Chat implements AutoCloseable {
  static final String DEBITS = "select count(*) from mini_chat.debit";
  static final String MESSAGES = "select count(*) from postrider.message";
  static final String LEDGER = "select count(*) from billing.ledger";

  final TestPostgres database = TestPostgres.start();
  final Turns turns = new Turns(database.dataSource(), new Outbox());

  Chat() {
    try {
      Stage.createTables(database.dataSource(), Turns.class);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  DataSource dataSource() {
    return database.dataSource();
  }

  UUID tenant(long credits) {
    UUID tenant = UUID.randomUUID();
    database.execute(
        "insert into mini_chat.quota (tenant, credit_limit) values ('%s', %d)"
            .formatted(tenant, credits));
    return tenant;
  }

  UUID turn(UUID tenant, String prompt) throws Exception {
    return turns.begin(tenant, null, prompt).orElseThrow();
  }

  long used(UUID tenant) {
    return database.count("select used from mini_chat.quota where tenant = '" + tenant + "'");
  }

  /** The usage messages of a turn. */
  List<String> usage(UUID turn) {
    return database.column(
        "select convert_from(payload, 'UTF8') from postrider.message where aggregate_id = '%s'"
            .formatted(turn));
  }

  void untilDelivered() {
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> database.count("select count(*) from postrider.queue") == 0);
  }

  @Override
  public void close() {
    database.close();
  }
}
