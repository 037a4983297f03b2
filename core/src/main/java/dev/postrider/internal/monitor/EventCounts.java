package dev.postrider.internal.monitor;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.text.Json;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Counts events per interval, from the log and the attempts that were appended with their delivery.
 * Never looks at more than 200,000 messages a call: what is beyond is said to be so. Thread-safe if
 * the data source is.
 */
public final class EventCounts {
  /** The most intervals that one call counts. */
  public static final int INTERVALS_MAX = 500;

  private static final int MESSAGES_MAX = 200_000;
  private static final Duration RANGE_MAX = Duration.ofDays(366);
  private static final String COUNT =
      "select * from postrider.event_counts(?::jsonb, ?, ?, ? * interval '1 second', ?)";

  private final Database database;

  /**
   * One interval. Immutable.
   *
   * @param events messages made in it, by the time in their ids
   * @param delivered those of them that were delivered since
   * @param retried their attempts that failed and were tried again
   * @param failed their attempts that ended them
   * @param complete false if there are more than were looked at: the counts are then at least these
   */
  public record Interval(
      Instant startsAt, long events, long delivered, long retried, long failed, boolean complete) {}

  public EventCounts(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /**
   * Counts from the first instant on, up to and without the second.
   *
   * @param conditions namespace, topic, tenant, aggregate_type, aggregate_id, event_type
   * @param width of an interval, in whole seconds
   */
  public List<Interval> count(
      Map<String, String> conditions, Instant from, Instant to, Duration width)
      throws SQLException {
    if (!from.isBefore(to) || Duration.between(from, to).compareTo(RANGE_MAX) > 0) {
      throw new RefusedException(
          "to must come after from, by 366 days at most, got " + from + " to " + to);
    }
    if (width.toSeconds() < 1 || !width.equals(Duration.ofSeconds(width.toSeconds()))) {
      throw new RefusedException("interval must be whole seconds, at least one, got " + width);
    }
    long intervals = intervals(from, to, width);
    if (intervals > INTERVALS_MAX) {
      throw new RefusedException("there may be " + INTERVALS_MAX + " intervals, got " + intervals);
    }
    return database.list(
        COUNT,
        EventCounts::interval,
        Json.write(conditions),
        from,
        to,
        width.toSeconds(),
        (int) (MESSAGES_MAX / intervals));
  }

  private static long intervals(Instant from, Instant to, Duration width) {
    return (Duration.between(from, to).toMillis() + width.toMillis() - 1) / width.toMillis();
  }

  private static Interval interval(ResultSet row) throws SQLException {
    return new Interval(
        Objects.requireNonNull(Database.instant(row, "starts_at")),
        row.getLong("events"),
        row.getLong("delivered"),
        row.getLong("retried"),
        row.getLong("failed"),
        row.getBoolean("complete"));
  }
}
