package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.observe.RelayListener;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** What does not run says why, once. */
@Tag("OP-8")
@Timeout(60)
class RetentionToldTest implements RelayListener {
  private final TestDatabase database = TestDatabase.create();
  private final OldLog log = new OldLog(database);
  private final List<String> told = new CopyOnWriteArrayList<>();
  private final Map<String, Duration> ages = new ConcurrentHashMap<>();
  @TempDir Path directory;

  @Override
  public void retained(String task, long count, Duration took) {
    told.add("done " + task);
  }

  @Override
  public void retentionSkipped(String task, String reason) {
    told.add("skipped " + task + ": " + reason);
  }

  @Override
  public void retentionFailed(String task, Exception error) {
    told.add("failed " + task + ": " + error.getMessage());
  }

  @Override
  public void retentionAge(String task, Duration age) {
    ages.put(task, age);
  }

  private Retention retention(RetentionConfig config) {
    return new Retention(database.dataSource(), Schema.DEFAULT, config, "relay", this);
  }

  private RetentionConfig archiving() {
    return RetentionConfig.off()
        .withArchive(ArchiveConfig.of(Duration.ofDays(40)), () -> new DirectoryStorage(directory));
  }

  private void anHourLater() {
    database.execute(
        "update postrider.retention set started_at = started_at - interval '1 h',"
            + " failed_at = failed_at - interval '1 h'");
  }

  @Test
  void anArchiveRunOfAnOperatorIsNoFailure() throws Exception {
    log.messages(50, "delivered", 3);
    Retention retention = retention(archiving());
    try (Connection operator = database.transaction()) {
      operator.createStatement().execute("select postrider.archive_begin()");
      retention.runDue();
      anHourLater();
      retention.runDue();
    }
    assertThat(told).containsExactly("skipped messages: another archive run is going on");
    assertThat(database.column("select error from postrider.retention")).containsOnlyNulls();
    anHourLater();
    retention.runDue();
    assertThat(told).hasSize(2).last().isEqualTo("done messages");
    assertThat(log.left("delivered")).isZero();
  }

  /** A database that goes away while a task is at work. */
  private static final class Leaving extends PGSimpleDataSource {
    private static final long serialVersionUID = 1L;
    private volatile boolean away;

    @Override
    public Connection getConnection() throws SQLException {
      if (away) {
        throw new SQLException("away", "08001");
      }
      return super.getConnection();
    }
  }

  @Test
  void aFailureThatCannotBeRecordedIsToldOnce() throws Exception {
    Leaving leaving = new Leaving();
    leaving.setUrl(database.jdbcUrl());
    RetentionConfig config =
        RetentionConfig.off()
            .withPeriod(RetentionTask.INBOX, Duration.ofDays(40))
            .withArchive(
                ArchiveConfig.of(Duration.ofDays(40)),
                () -> {
                  leaving.away = true;
                  throw new IOException("no such bucket");
                });
    new Retention(leaving, Schema.DEFAULT, config, "relay", this).runDue();
    assertThat(told).containsExactly("failed messages: no such bucket");
  }

  @Test
  void theAgesAreKnownBeforeTheFirstLook() throws Exception {
    database.execute(
        """
        insert into postrider.retention (task, period, since, started_at, finished_at) values
          ('audit', '40 d', now() - interval '9 d', now(), now() - interval '4 d'),
          ('inbox', '40 d', now() - interval '5 d', now(), null)
        """);
    Retention retention =
        retention(
            RetentionConfig.off()
                .withPeriod(RetentionTask.AUDIT, Duration.ofDays(40))
                .withPeriod(RetentionTask.INBOX, Duration.ofDays(40)));
    Thread thread = new Thread(retention);
    thread.start();
    await().until(() -> ages.size() == 2);
    retention.stop();
    thread.join();
    assertThat(ages.get("audit")).isBetween(Duration.ofDays(4), Duration.ofDays(5));
    assertThat(ages.get("inbox"))
        .as("relays start it again and again")
        .isBetween(Duration.ofDays(5), Duration.ofDays(6));
  }
}
