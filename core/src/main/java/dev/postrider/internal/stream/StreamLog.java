package dev.postrider.internal.stream;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.text.Json;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import dev.postrider.operations.Messages;
import dev.postrider.schema.Schema;
import dev.postrider.stream.StreamDestination;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Reads the log that {@link StreamDestination} writes. A position that was read stands for
 * everything up to it: nothing with a lower one can appear later. Thread-safe if the data source
 * is.
 */
public final class StreamLog {
  /** Payload bytes after which a page ends, with whatever the last message has beyond them. */
  public static final long PAGE_BYTES = 1 << 20;

  private static final String ENDS =
      """
      select coalesce(min(e.position), 1) as oldest, coalesce(max(e.position), 0) as latest
        from postrider.stream_event e
      """;

  private static final String PURGE = "select * from postrider.stream_purge(?::interval, ?, ?)";
  private static final int PURGE_ROWS = 10_000;

  private final Database database;

  public StreamLog(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  Schema schema() {
    return database.schema();
  }

  /** The last position, 0 if there was never an event. */
  public long latest() throws SQLException {
    try (Database.Session session = database.open()) {
      return latest(session);
    }
  }

  long latest(Database.Session session) throws SQLException {
    return session.one(ENDS, row -> row.getLong("latest"));
  }

  /** The position of the oldest event that can be read, 1 if there was never one. */
  public long oldest() throws SQLException {
    return database.one(ENDS, row -> row.getLong("oldest"));
  }

  /**
   * Events after a position in their order. Looks at no more than 5,000 of them a call, so an empty
   * page is not the end: go on from its position.
   *
   * @param limit 1 to 1000
   * @throws StreamGoneException if some of them were purged, or the position is beyond the log
   */
  public StreamPage after(long position, StreamFilter filter, int limit) throws SQLException {
    try (Database.Session session = database.open()) {
      return after(session, position, filter, limit);
    }
  }

  StreamPage after(Database.Session session, long position, StreamFilter filter, int limit)
      throws SQLException {
    StreamQuery query = StreamQuery.of(filter, position, Messages.pageSize(limit), PAGE_BYTES);
    List<Look> looks =
        session.list(query.sql(), StreamLog::look, query.arguments().toArray(new Object[0]));
    Look first = looks.get(0);
    if (!first.whole) {
      throw session.one(
          ENDS,
          row -> new StreamGoneException(position, row.getLong("oldest"), row.getLong("latest")));
    }
    List<StreamEvent> events = new ArrayList<>();
    looks.stream().map(Look::event).filter(Objects::nonNull).forEach(events::add);
    return new StreamPage(List.copyOf(events), reached(first, events, query, limit), first.latest);
  }

  private static long reached(Look look, List<StreamEvent> events, StreamQuery query, int limit) {
    if (events.size() < look.hits || (events.size() == limit && look.looked > 0)) {
      return events.get(events.size() - 1).position();
    }
    return look.looked == query.window() ? look.reached : look.latest;
  }

  /**
   * Removes what is older than this, which is at least an hour, in steps of 10,000; never the
   * newest event, from which positions go on.
   *
   * @return events removed
   */
  public long purge(Duration olderThan) throws SQLException {
    long removed = 0;
    try (Database.Session session = database.open()) {
      Purged step = new Purged(0, 0, false);
      while (!step.done) {
        step = purge(session, olderThan, step.from);
        removed += step.removed;
      }
    }
    return removed;
  }

  static Purged purge(Database.Session session, Duration olderThan, long from) throws SQLException {
    return session.one(
        PURGE,
        row -> new Purged(row.getLong("p_from"), row.getInt("removed"), row.getBoolean("done")),
        olderThan.toString(),
        PURGE_ROWS,
        from);
  }

  /** One step of a purge; the next goes on from {@code from}. */
  record Purged(long from, int removed, boolean done) {}

  private record Look(
      boolean whole,
      long latest,
      long reached,
      int looked,
      int hits,
      @Nullable StreamEvent event) {}

  private static Look look(ResultSet row) throws SQLException {
    return new Look(
        row.getBoolean("whole"),
        row.getLong("latest"),
        row.getLong("reached"),
        row.getInt("looked"),
        row.getInt("hits"),
        row.getObject("position") == null ? null : event(row));
  }

  private static StreamEvent event(ResultSet row) throws SQLException {
    return new StreamEvent(
        row.getLong("position"),
        row.getObject("message_id", UUID.class),
        new Route(row.getString("namespace"), row.getString("topic")),
        row.getString("tenant"),
        row.getString("aggregate_type"),
        row.getString("aggregate_id"),
        row.getString("event_type"),
        Objects.requireNonNull(Database.instant(row, "occurred_at")),
        row.getInt("delivery"),
        row.getObject("kept") == null ? null : content(row));
  }

  private static StreamEvent.Content content(ResultSet row) throws SQLException {
    @Nullable String type = row.getString("content_type");
    return new StreamEvent.Content(
        type == null ? Message.JSON : type,
        row.getBoolean("is_json"),
        Json.read(row.getString("headers")),
        row.getBytes("payload"));
  }
}
