package dev.postrider.bench.soak;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.retention.RetentionState;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.schema.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * A second database, whose relay archives old days into a directory before it drops them. It is
 * apart from the other one because an archive keeps messages for two days at least.
 */
final class Archived implements AutoCloseable {
  private static final int PER_FILE = 600;

  /** Otherwise a run is due after a hundredth of its retention, half an hour. */
  private static final String DUE =
      "update postrider.retention set finished_at = now() - interval '1 day'"
          + " where task = 'messages'";

  private final DataSource dataSource;
  private final Path directory;
  private final OldDays days;
  private final Relay relay;
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private volatile String failure = "";

  Archived(DataSource dataSource) throws IOException {
    this.dataSource = dataSource;
    this.directory = Files.createTempDirectory("postrider-soak-");
    this.days = new OldDays(dataSource);
    this.relay =
        Relay.builder(dataSource)
            .config(RelayConfig.defaults().withName("archivist"))
            .retention(
                RetentionConfig.off()
                    .withInterval(Duration.ofSeconds(1))
                    .withArchive(
                        new ArchiveConfig(Duration.ofDays(2), PER_FILE),
                        () -> new DirectoryStorage(directory)))
            .destination("none", HandlerDestination.inline(message -> Outcome.delivered()))
            .route("soak", "none", "none")
            .build()
            .start();
    var unused =
        clock.scheduleWithFixedDelay(this::make, 0, OldDays.EVERY_SECONDS, TimeUnit.SECONDS);
  }

  /** Nothing may escape: the executor would never call again. */
  private void make() {
    try {
      days.make();
      OldDays.execute(dataSource, DUE);
    } catch (SQLException | RuntimeException e) {
      failure = String.valueOf(e);
    }
  }

  long left() throws SQLException {
    return OldDays.left(dataSource);
  }

  /** Messages in files, by the database's own account. */
  long archived() throws SQLException {
    return OldDays.number(
        dataSource, "select coalesce(sum(messages), 0) from postrider.archive_file");
  }

  /** What went wrong. No day may be gone whose messages are in no file. */
  List<String> problems() throws SQLException {
    List<String> problems = new ArrayList<>();
    if (!failure.isEmpty()) {
      problems.add("old days to archive: " + failure);
    }
    RetentionState.list(dataSource, Schema.DEFAULT).stream()
        .filter(state -> state.error() != null)
        .forEach(state -> problems.add("archive failed: " + state.error()));
    clock.shutdownNow();
    long partitions = left();
    // Each day is a partition of messages and one of attempts.
    long gone = days.made() - (partitions + 1) / 2;
    if (gone < 1 || partitions > OldDays.LEFT_MAX) {
      problems.add("%d partitions of old days were not archived".formatted(partitions));
    }
    if (archived() < gone * OldDays.PER_DAY) {
      problems.add("%d messages are in files, of %d days".formatted(archived(), gone));
    }
    return problems;
  }

  @Override
  public void close() throws IOException {
    clock.shutdownNow();
    relay.close();
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
