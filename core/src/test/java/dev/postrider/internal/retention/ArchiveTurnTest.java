package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.ArchiveStorage;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.internal.archive.Archive;
import dev.postrider.observe.RelayListener;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A relay that archives keeps its turn for as long as that takes, or notices that it lost it. */
@Tag("OP-8")
@Timeout(60)
class ArchiveTurnTest implements RelayListener {
  private final TestDatabase database = TestDatabase.create();
  private final OldLog log = new OldLog(database);
  private final List<String> heard = new ArrayList<>();
  @TempDir Path directory;

  @Override
  public void retained(String task, long count, Duration took) {
    heard.add("done " + count);
  }

  @Override
  public void retentionStopped(String task, long count, Duration took) {
    heard.add("stopped " + count);
  }

  @Override
  public void retentionFailed(String task, Exception error) {
    heard.add("failed " + error.getMessage());
  }

  /** Does something while a file is uploaded. */
  private record Slow(ArchiveStorage storage, Runnable meanwhile) implements ArchiveStorage {
    @Override
    public void prepare() throws IOException {
      storage.prepare();
    }

    @Override
    public Draft start() throws IOException {
      Draft draft = storage.start();
      return new Draft() {
        @Override
        public OutputStream content() {
          return draft.content();
        }

        @Override
        public void publish(String name, long bytes, String sha256) throws IOException {
          meanwhile.run();
          draft.publish(name, bytes, sha256);
        }

        @Override
        public void close() throws IOException {
          draft.close();
        }
      };
    }

    @Override
    public void check() throws IOException {
      storage.check();
    }

    @Override
    public String location() {
      return storage.location();
    }
  }

  private void runWhileUploading(int messagesPerFile, Runnable act) throws InterruptedException {
    RetentionConfig config =
        RetentionConfig.off()
            .withArchive(
                new ArchiveConfig(Duration.ofDays(40), messagesPerFile),
                () -> new Slow(new DirectoryStorage(directory), act));
    new Retention(
            database.dataSource(), Schema.DEFAULT, config, "relay", this, Duration.ofMillis(5))
        .runDue();
  }

  @Test
  void anUploadThatOutlastsTheTurnDoesNotLoseIt() throws Exception {
    log.messages(50, "delivered", 20);
    runWhileUploading(
        100,
        () -> {
          database.execute("update postrider.retention_run set until = now() + interval '1 s'");
          await()
              .until(
                  () ->
                      database.count(
                              "select count(*) from postrider.retention_run"
                                  + " where until > now() + interval '1 min'")
                          == 1);
        });
    assertThat(heard).containsExactly("done 40");
    assertThat(database.value("select finished_at is not null from postrider.retention"))
        .isEqualTo("t");
  }

  @Test
  void aRelayThatLostItsTurnStopsAndDoesNotSayThatItIsDone() throws Exception {
    log.messages(50, "delivered", 1_500);
    runWhileUploading(
        1_000,
        () ->
            database.execute(
                "update postrider.retention_run set holder = 'other', until = now() + interval '1 h'"));
    assertThat(heard).hasSize(1);
    assertThat(heard.get(0)).startsWith("stopped ");
    assertThat(log.left("delivered")).as("not all was removed").isGreaterThanOrEqualTo(500);
    assertThat(database.value("select finished_at is null from postrider.retention"))
        .isEqualTo("t");
    assertThat(database.value("select holder from postrider.retention_run")).isEqualTo("other");
  }

  @Test
  void removingWhatWasArchivedCanBeStopped() throws Exception {
    log.messages(50, "delivered", 1_500);
    List<Long> seen = new ArrayList<>();
    new Archive(
            database.dataSource(),
            Schema.DEFAULT,
            ArchiveConfig.of(Duration.ofDays(40)),
            new DirectoryStorage(directory))
        .run(
            "ann",
            report -> {
              seen.add(report.removed());
              return report.removed() == 0;
            });
    assertThat(seen).endsWith(500L);
    assertThat(log.left("delivered")).isEqualTo(1_000);
  }
}
