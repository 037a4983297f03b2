package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.observe.RelayListener;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A partition that is in use, or whose messages go back into the queue, loses only what may go. */
@Tag("OP-8")
@Timeout(60)
class BusyPartitionTest implements RelayListener {
  private static final Duration PERIOD = Duration.ofDays(40);
  private static final String PARTITIONS =
      "select name from postrider.partition where name like 'message_old_%' order by 1";

  private final TestDatabase database = TestDatabase.create();
  private final OldLog log = new OldLog(database);
  private final List<String> told = new ArrayList<>();

  @Override
  public void retained(String task, long count, Duration took) {
    told.add("removed " + count);
  }

  @Override
  public void retentionFailed(String task, Exception error) {
    told.add("failed " + error.getMessage());
  }

  private void run() throws InterruptedException {
    RetentionConfig config = RetentionConfig.off().withPeriod(RetentionTask.MESSAGES, PERIOD);
    new Retention(database.dataSource(), Schema.DEFAULT, config, "relay", this).runDue();
  }

  @Test
  void aPartitionInUseIsEmptiedAndDroppedByALaterRun() throws Exception {
    for (int day : List.of(50, 60)) {
      log.partition(day);
      log.messages(day, "delivered", 700);
    }
    try (Connection report = database.transaction()) {
      report.createStatement().execute("lock table postrider.message in access share mode");
      run();
    }
    assertThat(log.left("delivered")).isZero();
    assertThat(told).containsExactly("removed 1400");
    assertThat(database.column(PARTITIONS)).containsExactly("message_old_50", "message_old_60");

    database.execute(
        "update postrider.retention set started_at = now() - interval '2 d', finished_at = now() - interval '2 d'");
    run();
    assertThat(told).containsExactly("removed 1400", "removed 0");
    assertThat(database.column(PARTITIONS)).isEmpty();
  }

  /** The one that is requeued in a transaction which is still open, when its removal begins. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aMessageThatIsRequeuedMeanwhileStays(boolean whole) throws Exception {
    log.partition(50);
    log.messages(50, "discarded", 20);
    if (!whole) {
      log.messages(50, "pending", 1);
    }
    CompletableFuture<Void> removal;
    try (Connection operator = database.transaction()) {
      operator
          .createStatement()
          .execute(
              """
              select postrider.requeue_dead('ann', '{"resolution": "discarded"}', array_agg(message_id), 10) from (
                select message_id from postrider.dead_letter order by 1 limit 7) d
              """);
      removal =
          CompletableFuture.runAsync(
              () -> {
                try {
                  run();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              });
      await()
          .until(
              () ->
                  database.count(
                          "select count(*) from pg_locks where not granted"
                              + " and relation = 'postrider.retention_lock'::regclass")
                      == 1);
      operator.commit();
    }
    removal.get();
    assertThat(log.left("discarded")).isEqualTo(7);
    assertThat(
            database.count(
                "select count(*) from postrider.queue q join postrider.message m on m.id = q.id"))
        .isEqualTo(whole ? 7 : 8);
    assertThat(database.column(PARTITIONS)).containsExactly("message_old_50");
  }

  @ParameterizedTest
  @ValueSource(strings = {"repeatable read", "serializable"})
  void noRowIsRemovedWithAnOldSnapshot(String level) throws Exception {
    log.partition(50);
    log.messages(50, "delivered", 3);
    log.messages(50, "pending", 1);
    try (Connection old = database.transaction()) {
      old.createStatement().execute("set transaction isolation level " + level);
      assertThatThrownBy(
              () ->
                  old.createStatement()
                      .execute(
                          "select postrider.purge('ann', 'messages', '40 d', 100, null, null)"))
          .hasMessageContaining("READ COMMITTED only");
    }
    assertThat(log.left("delivered")).isEqualTo(3);
  }
}
