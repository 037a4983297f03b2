package dev.postrider.internal.archive;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.ArchiveStorage;
import dev.postrider.error.DatabaseError;
import dev.postrider.internal.archive.SegmentWriter.Written;
import dev.postrider.internal.jdbc.Database.Session;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** One run over all that is old. Not thread-safe. */
final class ArchiveRun {
  private static final String CUTOFF = "select postrider.archive_cutoff(?::interval)";
  private static final String PLAN = "select name, whole from postrider.archive_plan(?)";
  private static final String PAGE =
      "select id, line from postrider.archive_page(?, ?, ?::uuid, ?)";
  private static final String RECORD =
      "select postrider.archive_record(?, ?, ?, ?, ?, ?, ?, ?, ?)::text";
  private static final String REMOVE = "select postrider.archive_remove(?, ?)";
  private static final String DROP = "select postrider.archive_drop(?, ?, ?, ?)";
  private static final String DROP_ATTEMPTS = "select postrider.archive_drop_attempts(?, ?, ?)";
  private static final String ATTEMPT_PARTITIONS =
      """
      select name from postrider.archive_partitions('attempt')
       where fallback or lower is null
          or lower::timestamptz < postrider.id_time(?)
      """;
  private static final String TRIM =
      "select p_after, removed, done from postrider.archive_trim(?, ?, ?, ?::uuid)";

  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final int PAGE_MESSAGES = 500;
  private static final long FILE_CHARACTERS = 1L << 30;
  private static final int TRIES = 5;
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final Session session;
  private final ArchiveConfig config;
  private final ArchiveStorage storage;
  private final String actor;
  private final Predicate<ArchiveReport> goOn;
  private final Archive.Pause pause;
  private final UUID cutoff;

  /** A file that is written again has the same name if it has the same content. */
  private final Set<String> files = new LinkedHashSet<>();

  private final List<String> dropped = new ArrayList<>();
  private final List<String> busy = new ArrayList<>();
  private long archived;
  private long kept;
  private long removed;
  private long trimmed;
  private boolean stopped;
  private @Nullable SQLException trouble;

  /** Who archives, and how it goes on. */
  record Caller(String actor, Predicate<ArchiveReport> goOn, Archive.Pause pause) {}

  ArchiveRun(Session session, ArchiveConfig config, ArchiveStorage storage, Caller caller)
      throws SQLException {
    this.session = session;
    this.config = config;
    this.storage = storage;
    this.actor = caller.actor;
    this.goOn = caller.goOn;
    this.pause = caller.pause;
    this.cutoff = cutoff(session, config);
  }

  static UUID cutoff(Session session, ArchiveConfig config) throws SQLException {
    return session.one(CUTOFF, row -> row.getObject(1, UUID.class), config.retention().toString());
  }

  static List<Partition> plan(Session session, UUID cutoff) throws SQLException {
    return session.list(
        PLAN, row -> new Partition(row.getString("name"), row.getBoolean("whole")), cutoff);
  }

  record Partition(String name, boolean whole) {}

  private record Line(UUID id, @Nullable String text) {}

  ArchiveReport run() throws SQLException, IOException {
    storage.prepare();
    for (Partition partition : plan(session, cutoff)) {
      if (stopped) {
        return report();
      }
      archive(partition);
    }
    for (String attempts : session.list(ATTEMPT_PARTITIONS, row -> row.getString(1), cutoff)) {
      if (stopped) {
        return report();
      }
      if (!dropAttempts(attempts)) {
        trim(attempts);
      }
    }
    trim("dead_letter");
    if (trouble != null) {
      throw trouble;
    }
    return report();
  }

  private void archive(Partition partition) throws SQLException, IOException {
    long before = archived;
    long keptBefore = kept;
    @Nullable UUID after = null;
    do {
      after = archiveFile(partition, after);
    } while (after != null && !stopped);
    if (stopped || !partition.whole) {
      return;
    }
    long messages = archived - before;
    try {
      if (drop(partition.name, DROP, actor, partition.name, cutoff, messages)) {
        removed += messages;
        return;
      }
      busy.add(partition.name);
    } catch (SQLException e) {
      keep(e);
    }
    archived = before;
    kept = keptBefore;
    archive(new Partition(partition.name, false));
  }

  private boolean dropAttempts(String partition) throws SQLException {
    try {
      return drop(partition, DROP_ATTEMPTS, actor, partition, cutoff);
    } catch (SQLException e) {
      keep(e);
      return false;
    }
  }

  /** A partition that cannot be dropped does not keep the others. The run fails at its end. */
  private void keep(SQLException error) throws SQLException {
    if (LOCK_NOT_AVAILABLE.equals(error.getSQLState())
        || DatabaseError.of(error).connectionLost()) {
      throw error;
    }
    trouble = trouble == null ? error : trouble;
  }

  /** Writes one file, and returns where the next one starts: null at the partition's end. */
  private @Nullable UUID archiveFile(Partition partition, @Nullable UUID start)
      throws SQLException, IOException {
    @Nullable UUID after = start;
    try (SegmentWriter file = new SegmentWriter(storage)) {
      while (after != null || start == null) {
        List<Line> page =
            session.list(
                PAGE,
                row -> new Line(row.getObject("id", UUID.class), row.getString("line")),
                partition.name,
                cutoff,
                after,
                Math.min(PAGE_MESSAGES, config.messagesPerFile() - file.ids().size()));
        write(page, file);
        after = page.isEmpty() ? null : page.get(page.size() - 1).id;
        stopped |= !goOn.test(report());
        if (after == null || stopped || full(file)) {
          break;
        }
      }
      if (!file.ids().isEmpty()) {
        Written written = record(partition, file.finish(partition.name));
        if (!partition.whole) {
          remove(written.name(), file.ids());
        }
      }
    }
    return after;
  }

  private boolean full(SegmentWriter file) {
    return file.ids().size() >= config.messagesPerFile() || file.size() >= FILE_CHARACTERS;
  }

  private void write(List<Line> page, SegmentWriter file) throws IOException {
    for (Line line : page) {
      if (line.text == null) {
        kept++;
      } else {
        file.add(line.id, line.text);
        archived++;
      }
    }
  }

  private Written record(Partition partition, Written file) throws SQLException {
    session.list(
        RECORD,
        row -> row.getString(1),
        actor,
        file.name(),
        partition.name,
        file.first(),
        file.last(),
        file.messages(),
        file.bytes(),
        file.sha256(),
        storage.location());
    files.add(file.name());
    return file;
  }

  /** In small steps. What is left when it is stopped is archived again by the next run. */
  private void remove(String file, List<UUID> ids) throws SQLException {
    for (int i = 0; i < ids.size(); i += PAGE_MESSAGES) {
      List<UUID> some = ids.subList(i, Math.min(i + PAGE_MESSAGES, ids.size()));
      removed += session.one(REMOVE, row -> row.getInt(1), file, some);
      stopped |= !goOn.test(report());
      if (stopped) {
        return;
      }
    }
  }

  /** False if it must stay, or its lock was not to be had in all the tries. */
  private boolean drop(String partition, String sql, @Nullable Object... arguments)
      throws SQLException {
    for (int i = 0; i < TRIES; i++) {
      try {
        boolean gone = session.one(sql, row -> row.getBoolean(1), arguments);
        if (gone) {
          dropped.add(partition);
        }
        return gone;
      } catch (SQLException e) {
        if (!LOCK_NOT_AVAILABLE.equals(e.getSQLState()) || !pause.await(PAUSE)) {
          throw e;
        }
      }
    }
    return false;
  }

  private void trim(String table) throws SQLException {
    Trimmed step = new Trimmed(null, 0, false);
    while (!step.done && !stopped) {
      step =
          session.one(
              TRIM,
              row ->
                  new Trimmed(
                      row.getObject("p_after", UUID.class),
                      row.getInt("removed"),
                      row.getBoolean("done")),
              table,
              cutoff,
              2 * PAGE_MESSAGES,
              step.after);
      trimmed += step.removed;
      stopped |= !goOn.test(report());
    }
  }

  private record Trimmed(@Nullable UUID after, int removed, boolean done) {}

  private ArchiveReport report() {
    return new ArchiveReport(
        archived, kept, removed, trimmed, List.copyOf(files), dropped, busy, stopped);
  }
}
