package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.DirectoryStorage;
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

/** Where one relay archives, no other one removes messages without doing so. */
@Tag("OP-8")
@Timeout(60)
class ArchiveFirstTest implements RelayListener {
  private static final RetentionConfig PLAIN =
      RetentionConfig.off()
          .withPeriod(RetentionTask.MESSAGES, Duration.ofDays(40))
          .withPeriod(RetentionTask.INBOX, Duration.ofDays(40));

  private final TestDatabase database = TestDatabase.create();
  private final OldLog log = new OldLog(database);
  private final List<String> failed = new ArrayList<>();
  private final List<String> skipped = new ArrayList<>();
  @TempDir Path directory;

  @Override
  public void retentionFailed(String task, Exception error) {
    failed.add(task + ": " + error.getMessage());
  }

  @Override
  public void retentionSkipped(String task, String reason) {
    skipped.add(task + ": " + reason);
  }

  private void run(RetentionConfig config) throws InterruptedException {
    new Retention(database.dataSource(), Schema.DEFAULT, config, "relay", this).runDue();
  }

  private RetentionConfig archiving() {
    return RetentionConfig.off()
        .withArchive(ArchiveConfig.of(Duration.ofDays(40)), () -> new DirectoryStorage(directory));
  }

  @Test
  void aRelayWithoutAnArchiveLeavesMessagesToThoseThatHaveOne() throws Exception {
    run(archiving());
    log.messages(50, "delivered", 3);
    database.execute("delete from postrider.retention");
    Retention plain = new Retention(database.dataSource(), Schema.DEFAULT, PLAIN, "relay", this);
    plain.runDue();
    plain.runDue();
    assertThat(log.left("delivered")).isEqualTo(3);
    assertThat(failed).isEmpty();
    assertThat(skipped).as("once, not at every look").hasSize(1);
    assertThat(skipped.get(0))
        .startsWith("messages: ")
        .contains("archived before they are removed", "postrider.archive", "archive --optional");
    assertThat(database.column("select task from postrider.retention"))
        .as("the task stays due for relays that archive")
        .containsExactly("inbox");
    run(archiving());
    assertThat(log.left("delivered")).isZero();
  }

  @Test
  void anOperatorIsRefusedTooUntilSomebodyDecidesOtherwise() throws Exception {
    run(archiving());
    log.messages(50, "delivered", 3);
    Purge purge = new Purge(database.dataSource(), Schema.DEFAULT);
    assertThatThrownBy(
            () -> purge.run("ann", RetentionTask.MESSAGES, Duration.ofDays(40), n -> true))
        .hasMessageContaining("archived before they are removed");
    assertThat(purge.archiveOptional("ann")).isTrue();
    assertThat(purge.archiveOptional("ann")).as("it was so already").isFalse();
    assertThat(purge.run("ann", RetentionTask.MESSAGES, Duration.ofDays(40), n -> true))
        .isEqualTo(6);
    assertThat(database.column("select actor || ' ' || action from postrider.audit order by id"))
        .contains("retention archive.required", "ann archive.optional");
  }
}
