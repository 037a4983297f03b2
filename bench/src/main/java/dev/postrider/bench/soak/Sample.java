package dev.postrider.bench.soak;

import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Set;
import javax.sql.DataSource;

/** What was seen at one moment, by name. Sizes in KiB, times in microseconds. Immutable. */
record Sample(Map<String, Long> values) {
  /** Partitions count with their parent, indexes and TOAST with their table. */
  private static final String SIZES =
      """
      select t.name, (pg_total_relation_size(t.name::regclass) + coalesce((
                 select sum(pg_total_relation_size(p.relid)) from pg_partition_tree(t.name::regclass) p
                  where p.level > 0), 0)) / 1024
        from (values ('postrider.message'), ('postrider.attempt'), ('postrider.queue'), ('postrider.ordering_key'),
          ('postrider.dedupe'), ('postrider.inbox'), ('postrider.inbox_sequence'), ('postrider.stream_event'),
          ('postrider.dead_letter'), ('postrider.delivered_content'), ('postrider.audit'), ('postrider.replay_job'),
          ('postrider.worker'), ('postrider.lease'), ('postrider.relay'), ('postrider.relay_destination'),
          ('postrider.relay_route'), ('postrider.retention'), ('postrider.retention_run'),
          ('postrider.chart_point')) t(name)
      """;

  /** Longer than any transaction of the traffic, on a busy machine too. */
  private static final Duration OPEN_FOR = Duration.ofSeconds(10);

  static final List<String> TIMES = List.of("p50 us", "p99 us");
  static final String HEAP = "heap";

  /** Connections that somebody keeps, and transactions in which nothing happens. */
  static final String HELD = "held";

  static final String OPEN = "open";

  /** Partitions of days that retention has to drop, and of those that are archived before that. */
  static final String OLD_DAYS = "old days";

  static final String TO_ARCHIVE = "to archive";

  private static final Set<String> NOT_TABLES =
      Set.of("seconds", "messages", HEAP, HELD, OPEN, OLD_DAYS, TO_ARCHIVE);

  private static final List<String> SHOWN =
      List.of("message", "attempt", "queue", "ordering_key", "dedupe", "inbox", "stream_event");

  static Sample take(
      DataSource dataSource, int held, List<Long> latencies, long toArchive, Duration at)
      throws SQLException {
    Map<String, Long> values = new LinkedHashMap<>();
    values.put(HELD, (long) held);
    values.put(OPEN, Connections.openTransactions(dataSource, OPEN_FOR));
    values.put("seconds", at.toSeconds());
    values.put("messages", (long) latencies.size());
    values.put(OLD_DAYS, OldDays.left(dataSource));
    values.put(TO_ARCHIVE, toArchive);
    List<Long> sorted = new ArrayList<>(latencies);
    sorted.sort(null);
    values.put(TIMES.get(0), at(sorted, 0.5));
    values.put(TIMES.get(1), at(sorted, 0.99));
    System.gc();
    values.put(HEAP, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1024);
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(SIZES)) {
      while (row.next()) {
        values.put(row.getString(1).substring("postrider.".length()), row.getLong(2));
      }
    }
    return new Sample(Map.copyOf(values));
  }

  private static long at(List<Long> sorted, double share) {
    return sorted.isEmpty() ? 0 : sorted.get((int) (share * (sorted.size() - 1)));
  }

  long get(String name) {
    return values.getOrDefault(name, 0L);
  }

  /** Every table together. */
  long tables() {
    return values.entrySet().stream()
        .filter(entry -> isTable(entry.getKey()))
        .mapToLong(Entry::getValue)
        .sum();
  }

  static boolean isTable(String name) {
    return !TIMES.contains(name) && !NOT_TABLES.contains(name);
  }

  static String header() {
    StringBuilder line =
        new StringBuilder("Sizes in KiB, with indexes. Latency from enqueue to handler, ms.\n");
    line.append(
        "%6s %8s %7s %7s %8s %4s %4s %8s"
            .formatted("s", "messages", "p50", "p99", "heap", HELD, OPEN, "tables"));
    line.append(" %8s %10s".formatted(OLD_DAYS, TO_ARCHIVE));
    SHOWN.forEach(name -> line.append(" %12s".formatted(name)));
    return line.toString();
  }

  String line() {
    StringBuilder line =
        new StringBuilder(
            "%6d %8d %7.1f %7.1f %8d %4d %4d %8d"
                .formatted(
                    get("seconds"),
                    get("messages"),
                    get(TIMES.get(0)) / 1000.0,
                    get(TIMES.get(1)) / 1000.0,
                    get(HEAP),
                    get(HELD),
                    get(OPEN),
                    tables()));
    line.append(" %8d %10d".formatted(get(OLD_DAYS), get(TO_ARCHIVE)));
    SHOWN.forEach(name -> line.append(" %12d".formatted(get(name))));
    return line.toString();
  }
}
