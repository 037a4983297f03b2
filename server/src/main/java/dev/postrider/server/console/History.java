package dev.postrider.server.console;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Points of the charts in the database, for servers that start later. Thread-safe. */
final class History {
  private static final Logger log = LoggerFactory.getLogger(History.class);
  private static final Duration STATEMENT_MAX = Duration.ofSeconds(2);
  private static final String READ =
      """
      select point from postrider.chart_point
       where at > now() - interval '30 minutes' order by point[1]
      """;
  private static final String PUT = "select postrider.chart_put(?::float8[])";

  private final Database database;
  private volatile boolean failing;

  History(Database database) {
    this.database = database;
  }

  /** The points of the last half hour, the oldest first. */
  static List<List<@Nullable Double>> read(Database.Session session) throws SQLException {
    return session.list(
        READ, row -> Arrays.asList((@Nullable Double[]) row.getArray(1).getArray()));
  }

  /** Keeps a point, unless there is one of the same ten seconds. It is no loss if that fails. */
  void keep(List<@Nullable Double> point) {
    String array = point.stream().map(String::valueOf).collect(Collectors.joining(",", "{", "}"));
    try {
      failing = !Database.within(STATEMENT_MAX, () -> database.one(PUT, row -> true, array));
    } catch (Exception e) {
      if (!failing) {
        failing = true; // said once, until it works again
        log.warn("{}", LogLine.of("console_point_not_kept").put("error", Silenced.text(e)));
      }
    }
  }
}
