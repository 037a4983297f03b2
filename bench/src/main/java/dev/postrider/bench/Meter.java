package dev.postrider.bench;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a measured stretch cost beside its time: processor time of the server and of this process,
 * and write-ahead log. Reads /proc, so on other systems than Linux it knows nothing. Not
 * thread-safe.
 */
final class Meter {
  private static final Path PROC = Path.of("/proc");
  private static final double MICROS_PER_TICK = 10_000; // USER_HZ is 100 everywhere that matters
  // A process that lives as long as the server, whose child it is.
  private static final String CHECKPOINTER =
      "select pid from pg_stat_activity where backend_type = 'checkpointer'";
  private static final String WAL = "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint";

  private final BenchDatabase database;
  private @Nullable Cost before;
  private @Nullable Cost last;

  /** Sums since some time, or per message; what was counted beside it, if anything was. */
  record Cost(double serverMicros, double clientMicros, double walBytes, @Nullable Counts counts) {
    private Cost since(Cost earlier, double messages) {
      return new Cost(
          (serverMicros - earlier.serverMicros) / messages,
          (clientMicros - earlier.clientMicros) / messages,
          (walBytes - earlier.walBytes) / messages,
          null);
    }
  }

  /** Rows written, statements and a process's live heap: for those who measure other processes. */
  record Counts(double rowVersions, double statements, double heapBytes) {}

  Meter(BenchDatabase database) {
    this.database = database;
  }

  void start() {
    before = now();
  }

  void stop(long messages) {
    Cost after = now();
    last = before == null || after == null ? null : after.since(before, (double) messages);
    before = null;
  }

  /** What the last stretch cost per message; null if nothing was measured since the last call. */
  @Nullable Cost take() {
    Cost taken = last;
    last = null;
    return taken;
  }

  /** Replaces what the last stretch cost. */
  void put(Cost cost) {
    last = cost;
  }

  private @Nullable Cost now() {
    try {
      long postmaster = Long.parseLong(stat(database.count(CHECKPOINTER))[1]);
      return new Cost(
          serverTicks(postmaster) * MICROS_PER_TICK,
          ProcessHandle.current().info().totalCpuDuration().map(Duration::toNanos).orElse(0L)
              / 1000.0,
          database.count(WAL),
          null);
    } catch (IOException | SQLException e) {
      return null;
    }
  }

  /**
   * The server's own, its living children's, and what those that ended left it. A child that ends
   * meanwhile may be in neither, so then they are read again.
   */
  private static long serverTicks(long postmaster) throws IOException {
    while (true) {
      String[] own = stat(postmaster);
      long ticks = sum(own, 11, 14) + childTicks(postmaster);
      if (sum(own, 13, 14) == sum(stat(postmaster), 13, 14)) {
        return ticks;
      }
    }
  }

  private static long childTicks(long postmaster) throws IOException {
    long ticks = 0;
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path process : processes) {
        String[] child = statOrNothing(process);
        if (child.length > 14 && Long.parseLong(child[1]) == postmaster) {
          ticks += sum(child, 11, 12);
        }
      }
    }
    return ticks;
  }

  private static long sum(String[] fields, int from, int to) {
    long sum = 0;
    for (int i = from; i <= to; i++) {
      sum += Long.parseLong(fields[i]);
    }
    return sum;
  }

  private static String[] statOrNothing(Path process) {
    try {
      return stat(Long.parseLong(process.getFileName().toString()));
    } catch (IOException ended) {
      return new String[0];
    }
  }

  /** The fields after the name, which may hold anything: state, parent and so on. */
  private static String[] stat(long process) throws IOException {
    String line = Files.readString(PROC.resolve(process + "/stat"));
    return line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
  }
}
