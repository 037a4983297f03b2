package dev.postrider.internal.archive;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.ArchiveStorage;
import dev.postrider.error.RefusedException;
import dev.postrider.internal.jdbc.Advice;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.jdbc.Database.Session;
import dev.postrider.schema.Schema;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Moves old, settled messages from the log to compressed files of one JSON object a line, attempts
 * included. A partition with nothing else in it is dropped, from others the messages are removed in
 * small batches. If a run dies, the next one writes again what was not removed yet: a message may
 * then be in two files, but is never in none. A run uses two connections. Thread-safe if the data
 * source is; one run at a time.
 */
public final class Archive {
  private static final String COUNT =
      "select p_after, settled, kept, done from postrider.archive_count(?, ?, ?::uuid)";
  private static final String FILES =
      """
      select * from postrider.archive_file
       where name > coalesce(?, '') order by name limit ?
      """;
  private static final String BEGIN = "select postrider.archive_begin()";
  private static final String REQUIRE = "select postrider.archive_require(?, true)";

  private final Database database;
  private final ArchiveConfig config;
  private final ArchiveStorage storage;
  private final Pause pause;

  /** Waits before another try; false if there is to be none. */
  @FunctionalInterface
  interface Pause {
    boolean await(Duration time);
  }

  /**
   * @param storage where the files go; the caller closes it
   */
  public Archive(
      DataSource dataSource, Schema schema, ArchiveConfig config, ArchiveStorage storage) {
    this(dataSource, schema, config, storage, Archive::sleep);
  }

  Archive(
      DataSource dataSource,
      Schema schema,
      ArchiveConfig config,
      ArchiveStorage storage,
      Pause pause) {
    this.database = new Database(dataSource, schema);
    this.config = config;
    this.storage = storage;
    this.pause = pause;
  }

  /** What a run would do now. Counts exactly, in short statements. */
  public List<ArchivePlan> dryRun() throws SQLException {
    try (Session session = database.open()) {
      UUID cutoff = ArchiveRun.cutoff(session, config);
      List<ArchivePlan> plans = new ArrayList<>();
      for (ArchiveRun.Partition partition : ArchiveRun.plan(session, cutoff)) {
        plans.add(count(session, partition, cutoff));
      }
      return plans;
    }
  }

  private static ArchivePlan count(Session session, ArchiveRun.Partition partition, UUID cutoff)
      throws SQLException {
    Counted all = new Counted(null, 0, 0, false);
    while (!all.done) {
      all = all.plus(session.one(COUNT, Archive::counted, partition.name(), cutoff, all.after));
    }
    return new ArchivePlan(partition.name(), partition.whole(), all.settled, all.kept);
  }

  /**
   * Archives all that is older than the retention. From now on nobody removes messages of this
   * database without archiving them, until somebody {@linkplain
   * dev.postrider.internal.retention.Purge#archiveOptional says otherwise}.
   *
   * @param goOn told how far it is after each page; false stops
   */
  public ArchiveReport run(String actor, Predicate<ArchiveReport> goOn)
      throws SQLException, IOException {
    @Nullable ArchiveReport report = tryRun(actor, goOn);
    if (report == null) {
      throw new RefusedException("another archive run is going on; wait for its end");
    }
    return report;
  }

  /** The same, null if another run is going on. */
  public @Nullable ArchiveReport tryRun(String actor, Predicate<ArchiveReport> goOn)
      throws SQLException, IOException {
    RefusedException.ifBlank("actor", actor);
    try (Connection lock = database.dataSource().getConnection();
        Session session = database.open()) {
      lock.setAutoCommit(false);
      try {
        if (!begin(lock)) {
          return null;
        }
        session.one(REQUIRE, row -> row.getBoolean(1), actor);
        return new ArchiveRun(session, config, storage, new ArchiveRun.Caller(actor, goOn, pause))
            .run();
      } finally {
        lock.rollback();
      }
    }
  }

  /**
   * Takes the lock and keeps no snapshot: vacuum could remove no dead row until the run ends. At
   * another isolation level the transaction would keep one. So would the query's portal, which
   * stays open until the next statement.
   */
  private boolean begin(Connection lock) throws SQLException {
    boolean locked;
    try (Statement statement = lock.createStatement()) {
      statement.execute("set transaction isolation level read committed");
      try (ResultSet row = statement.executeQuery(database.schema().sql(BEGIN))) {
        locked = row.next() && row.getBoolean(1);
      }
      statement.execute("set local idle_in_transaction_session_timeout = 0");
    } catch (SQLException e) {
      throw Advice.on(e, database.schema(), database.role(), lock.getMetaData().getUserName());
    }
    return locked;
  }

  /** The files written so far, by name, a page at a time. */
  public List<ArchiveFile> files(@Nullable String after, int limit) throws SQLException {
    return database.list(FILES, Archive::file, after, limit);
  }

  /** The lines of a file, one message each. Close the stream. */
  public static Stream<String> lines(Path file) throws IOException {
    BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(file), 1 << 16), StandardCharsets.UTF_8));
    return reader.lines().onClose(() -> close(reader));
  }

  private static void close(BufferedReader reader) {
    try {
      reader.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean sleep(Duration time) {
    try {
      Thread.sleep(time.toMillis());
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private record Counted(@Nullable UUID after, long settled, long kept, boolean done) {
    Counted plus(Counted next) {
      return new Counted(next.after, settled + next.settled, kept + next.kept, next.done);
    }
  }

  private static Counted counted(ResultSet row) throws SQLException {
    return new Counted(
        row.getObject("p_after", UUID.class),
        row.getLong("settled"),
        row.getLong("kept"),
        row.getBoolean("done"));
  }

  private static ArchiveFile file(ResultSet row) throws SQLException {
    return new ArchiveFile(
        row.getString("name"),
        row.getString("partition"),
        row.getObject("first_id", UUID.class),
        row.getObject("last_id", UUID.class),
        row.getLong("messages"),
        row.getLong("bytes"),
        row.getString("sha256"),
        row.getString("location"),
        Objects.requireNonNull(Database.instant(row, "written_at")));
  }
}
