package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.internal.archive.Archive;
import dev.postrider.observe.RelayListener;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One partition that makes trouble does not keep the others. */
@Tag("OP-8")
@Timeout(60)
class RetentionTroubleTest implements RelayListener {
  private static final RetentionConfig MESSAGES =
      RetentionConfig.off().withPeriod(RetentionTask.MESSAGES, Duration.ofDays(40));

  private final TestDatabase database = TestDatabase.create();
  private final OldLog log = new OldLog(database);
  private final List<String> failed = new ArrayList<>();
  private final List<String> done = new ArrayList<>();

  @Override
  public void retained(String task, long count, Duration took) {
    done.add(task);
  }

  @Override
  public void retentionFailed(String task, Exception error) {
    failed.add(task + ": " + error.getMessage());
  }

  private void run(RetentionConfig config) throws InterruptedException {
    new Retention(database.dataSource(), Schema.DEFAULT, config, "relay", this).runDue();
  }

  /** The names of partitions are walked in their order: 50 comes before 60. */
  private void twoDays() {
    for (int day : List.of(50, 60)) {
      log.partition(day);
      log.messages(day, "delivered", 700);
    }
  }

  @Test
  void aPartitionThatCannotBeDroppedIsEmptiedAndTheNextOneDropped() throws Exception {
    twoDays();
    database.execute("create view public.report as select id from postrider.message_old_50");
    run(MESSAGES);
    assertThat(log.left("delivered")).isZero();
    assertThat(database.column("select name from postrider.partition where name like '%_old_%'"))
        .containsExactly("message_old_50");
    assertThat(failed).hasSize(1);
    assertThat(failed.get(0)).contains("cannot drop table postrider.message_old_50");
    assertThat(done).as("a run with an error is not done").isEmpty();
    assertThat(database.value("select error from postrider.retention where finished_at is null"))
        .contains("message_old_50");

    database.execute(
        "drop view public.report;"
            + " update postrider.retention set started_at = now() - interval '2 h', failed_at = now() - interval '2 h'");
    run(MESSAGES);
    assertThat(database.column("select name from postrider.partition where name like '%_old_%'"))
        .isEmpty();
    assertThat(database.value("select error is null from postrider.retention")).isEqualTo("t");
  }

  @Test
  void anArchiveGoesOnWithTheNextPartitionToo(@TempDir Path directory) throws Exception {
    twoDays();
    database.execute("create view public.report as select id from postrider.message_old_50");
    run(
        RetentionConfig.off()
            .withArchive(
                ArchiveConfig.of(Duration.ofDays(40)), () -> new DirectoryStorage(directory)));
    assertThat(log.left("delivered")).isZero();
    assertThat(failed).hasSize(1);
    assertThat(failed.get(0)).contains("cannot drop table postrider.message_old_50");
    assertThat(database.column("select name from postrider.partition where name like '%_old_%'"))
        .containsExactly("message_old_50");
  }

  @Test
  void aPartitionThatAnOperatorDroppedIsDone() throws Exception {
    twoDays();
    for (String position :
        List.of(
            "{\"of\": \"message\", \"last\": \"\", \"partition\": \"message_gone\"}",
            "{\"of\": \"attempt\", \"last\": \"\", \"partition\": \"attempt_gone\"}",
            "{\"of\": \"attempt\", \"last\": \"\", \"partition\": \"attempt_gone\", \"after\": null}")) {
      database.execute(
          """
          insert into postrider.retention (task, period, started_at, position)
          values ('messages', '40 d', now() - interval '2 h', '%s')
          on conflict (task) do update
            set started_at = excluded.started_at, position = excluded.position, finished_at = null
          """
              .formatted(position));
      run(MESSAGES);
    }
    assertThat(failed).isEmpty();
    assertThat(done).hasSize(3);
  }

  @Test
  void anArchiveRunDoesNotMindAPartitionThatGoesMeanwhile(@TempDir Path directory)
      throws Exception {
    twoDays();
    List<String> gone = new ArrayList<>();
    var report =
        new Archive(
                database.dataSource(),
                Schema.DEFAULT,
                ArchiveConfig.of(Duration.ofDays(40)),
                new DirectoryStorage(directory))
            .run(
                "ann",
                state -> {
                  if (gone.isEmpty()) {
                    database.execute(
                        "drop table postrider.message_old_60, postrider.attempt_old_60");
                    gone.add("both");
                  }
                  return true;
                });
    assertThat(report.archived()).isEqualTo(700);
    assertThat(log.left("delivered")).isZero();
  }

  @Test
  void attemptsAreKeptForMessagesThatStayHoweverManyThereAre() throws Exception {
    log.partition(60);
    log.messages(60, "dead", 3_000);
    run(MESSAGES);
    assertThat(failed).isEmpty();
    assertThat(database.count("select count(*) from postrider.attempt")).isEqualTo(3_000);
  }

  /** Messages that must stay, however many, do not keep partitions that have nothing of theirs. */
  @Test
  void partitionsOfAttemptsAreDroppedOnceTheyAreEmptyBesideManyOlderMessages() throws Exception {
    log.partition(70);
    log.messages(70, "dead", 20_001);
    twoDays();
    run(MESSAGES);
    assertThat(failed).isEmpty();
    assertThat(database.count("select count(*) from postrider.attempt")).isEqualTo(20_001);
    String attempts = "select name from postrider.partition where name like 'attempt_old_%'";
    assertThat(database.column(attempts)).contains("attempt_old_70");

    database.execute(
        "update postrider.retention set started_at = now() - interval '2 d', finished_at = now() - interval '1 d'");
    run(MESSAGES);
    assertThat(failed).isEmpty();
    assertThat(database.column(attempts)).containsExactly("attempt_old_70");
    assertThat(database.count("select count(*) from postrider.attempt")).isEqualTo(20_001);
  }
}
