package dev.postrider.server.console;

import dev.postrider.store.Database;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Points of the charts in the database, for servers that start later. Thread-safe. */
record History(Database database) {
  private static final String READ =
      """
      select point from postrider.chart_point
       where at > now() - interval '30 minutes' order by point[1]
      """;
  private static final String PUT = "select postrider.chart_put(?::float8[])";

  /** The points of the last half hour, the oldest first. */
  static List<List<@Nullable Double>> read(Database.Session session) throws SQLException {
    return session.list(
        READ, row -> Arrays.asList((@Nullable Double[]) row.getArray(1).getArray()));
  }

  /** Keeps a point, unless there is one of the same ten seconds. */
  void put(List<@Nullable Double> point) throws SQLException {
    String array =
        point.stream().map(String::valueOf).collect(Collectors.joining(",", "{", "}"));
    database.one(PUT, row -> true, array);
  }
}
