package dev.postrider.examples.memorysync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.examples.stage.Stage;
import dev.postrider.lease.FlushOutcome;
import dev.postrider.lease.LeaseOptions;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Backoff;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** Workers over the lease store, a real database and a real HTTP service. */
@TestInstance(Lifecycle.PER_CLASS)
class SyncWorkerTest {
  private static final Duration LEASE = Duration.ofMinutes(2);
  private static final SyncWorker.Settings SETTINGS =
      new SyncWorker.Settings(
          10, LEASE, new Backoff(Duration.ofMinutes(10), Duration.ofHours(1), 0), 3);

  @AutoClose private final TestPostgres database = TestPostgres.start();
  private final Notes notes = new Notes(database.dataSource());
  private MemoryService.Temper temper;
  private MemoryService service;
  private FlushCounts counts;

  @BeforeAll
  void createTables() throws Exception {
    Stage.createTables(database.dataSource(), Notes.class);
    // Writes down what happens to leases, beside what the service is asked.
    database.execute(
        """
        create table public.step (no bigint generated always as identity, what text);
        create function public.note_step() returns trigger language plpgsql as $$
        begin
          insert into public.step (what) values (case when tg_op = 'DELETE' then 'end' else 'lease' end);
          return null;
        end $$;
        create trigger steps after insert or update of until or delete on postrider.lease
          for each row execute function public.note_step();
        """);
  }

  @BeforeEach
  void startService() throws Exception {
    database.execute("delete from postrider.queue; delete from postrider.lease; delete from step");
    counts = new FlushCounts();
    temper = body -> 201;
    service = new MemoryService(body -> temper.status(body));
  }

  @AfterEach
  void stopService() {
    service.close();
  }

  private SyncWorker worker(String name) {
    LeaseStore store =
        new LeaseStore(
            database.dataSource(),
            Schema.DEFAULT,
            name,
            LeaseOptions.DEFAULT.withListener(counts).withTimeout(Duration.ofSeconds(1)));
    return new SyncWorker(store, new MemoryClient(service.url(), Duration.ofSeconds(20)), SETTINGS);
  }

  private String state(UUID id) {
    return database
        .column("select state from postrider.message_state where id = '" + id + "'")
        .get(0);
  }

  private List<String> attempts(UUID id) {
    return database.column(
        "select concat_ws(' ', state, worker, reference, error) from postrider.attempt_history"
            + (" where message_id = '" + id + "' order by finished_at"));
  }

  @Test
  @Tag("LP-9")
  @Tag("LP-4")
  void aLeaseIsRenewedBeforeTheLongCallAndBeforeTheAck() throws Exception {
    temper =
        body -> {
          database.execute("insert into step (what) values ('call')");
          return 201;
        };
    UUID id = notes.save("team", "renewed");
    assertThat(worker("w").flush()).isEqualTo(1);
    assertThat(state(id)).isEqualTo("delivered");
    assertThat(database.column("select what from step order by no"))
        .as("claimed, renewed, called, renewed, acknowledged")
        .containsExactly("lease", "lease", "call", "lease", "end");
  }

  @Test
  @Tag("LP-1")
  @Tag("LP-5")
  @Tag("LP-8")
  @Tag("LP-9")
  void theSameContentsAreSentToASpaceOnce() throws Exception {
    UUID first = notes.save("team", "the same");
    UUID second = notes.save("team", "the same");
    UUID elsewhere = notes.save("personal", "the same");
    assertThat(worker("w").flush()).isEqualTo(3);
    Map<String, String> memories = service.memories();
    assertThat(memories).containsOnlyKeys(first.toString(), elsewhere.toString());
    assertThat(attempts(second)).containsExactly("DISPATCHED w " + memories.get(first.toString()));
    assertThat(counts.of(FlushOutcome.DEDUP_HIT)).isEqualTo(1);
    assertThat(counts.of(FlushOutcome.SUCCESS)).isEqualTo(3);
  }

  @Test
  @Tag("LP-2")
  @Tag("LP-6")
  @Tag("LP-8")
  @Tag("LP-9")
  void whoLosesItsLeaseInTheCallRecordsAConflictAndDropsTheNote() throws Exception {
    SyncWorker quick = worker("quick");
    temper =
        body -> {
          temper = again -> 201;
          database.execute("update postrider.lease set until = now() - interval '1 second'");
          assertThat(quick.flush()).isEqualTo(1);
          return 201;
        };
    UUID id = notes.save("team", "contested");
    assertThat(worker("slow").flush()).isEqualTo(1);
    assertThat(service.calls()).isEqualTo(2);
    assertThat(attempts(id))
        .hasSize(3)
        .anyMatch(attempt -> attempt.startsWith("ZOMBIE_REQUEUE slow"))
        .anyMatch(attempt -> attempt.startsWith("DISPATCHED quick mem-"))
        .anyMatch(attempt -> attempt.startsWith("CONFLICT slow found delivered"));
    assertThat(counts.of(FlushOutcome.CONFLICT)).isEqualTo(1);
    assertThat(counts.of(FlushOutcome.SUCCESS)).as("by the quick one").isEqualTo(1);
  }

  @Test
  @Tag("LP-2")
  @Tag("LP-9")
  void whoLosesItsLeaseDoesNotSendTheRestOfItsBatch() throws Exception {
    LeaseStore quick = new LeaseStore(database.dataSource(), Schema.DEFAULT, "quick");
    temper =
        body -> {
          database.execute("update postrider.lease set until = now() - interval '1 second'");
          assertThat(quick.claim(Notes.NAMESPACE, 10, LEASE)).hasSize(2);
          return 201;
        };
    UUID first = notes.save("team", "first of the batch");
    UUID second = notes.save("team", "second of the batch");
    assertThat(worker("slow").flush()).isEqualTo(2);
    assertThat(service.calls()).as("the second one is not sent").isEqualTo(1);
    assertThat(counts.of(FlushOutcome.CONFLICT)).isEqualTo(2);
    assertThat(quick.ackSent(List.of(first, second))).as("no longer held").isEmpty();
  }

  @Test
  @Tag("LP-3")
  @Tag("LP-7")
  @Tag("LP-8")
  void aFailureIsTriedAgainWhenTheWorkerSaysAndDeadInTheEnd() throws Exception {
    temper = body -> 503;
    UUID id = notes.save("team", "unlucky");
    SyncWorker worker = worker("w");
    for (int attempt = 1; attempt < SETTINGS.maxAttempts(); attempt++) {
      assertThat(worker.flush()).isEqualTo(1);
      assertThat(worker.flush()).as("not before its time").isZero();
      assertThat(minutesUntilDue(id)).isEqualTo(10L << attempt);
      database.execute("update postrider.queue set due_at = now()");
    }
    worker.flush();
    assertThat(state(id)).isEqualTo("dead");
    assertThat(attempts(id)).last().isEqualTo("FAILED w HTTP 503");
    assertThat(counts.of(FlushOutcome.RETRY)).isEqualTo(2);
    assertThat(counts.of(FlushOutcome.DEAD)).isEqualTo(1);
  }

  private long minutesUntilDue(UUID id) {
    return database.count(
        "select round(extract(epoch from next_attempt_at - now()) / 60)"
            + (" from postrider.message_state where id = '" + id + "'"));
  }

  @Test
  @Tag("LP-8")
  void whatTheServiceRefusesIsDeadAtOnce() throws Exception {
    temper = body -> 422;
    UUID id = notes.save("team", " ");
    worker("w").flush();
    assertThat(state(id)).isEqualTo("dead");
    assertThat(counts.of(FlushOutcome.DEAD)).isEqualTo(1);
  }

  @Test
  @Tag("LP-8")
  void aDatabaseThatHangsIsCountedAndTheWorkerGoesOn() throws Exception {
    UUID id = notes.save("team", "patient");
    SyncWorker worker = worker("w");
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("lock table postrider.queue in access exclusive mode");
      assertThat(worker.flush()).isZero();
    }
    assertThat(counts.of(FlushOutcome.DB_TIMEOUT)).isEqualTo(1);
    assertThat(worker.flush()).isEqualTo(1);
    assertThat(state(id)).isEqualTo("delivered");
  }
}
