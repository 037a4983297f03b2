package dev.postrider.internal.stream;

import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A database with a log, and a way to append to it without a relay. */
final class Channel {
  final TestDatabase database = TestDatabase.create();
  final StreamLog log = new StreamLog(database.dataSource(), Schema.DEFAULT);

  /** Enqueues with these arguments of postrider.enqueue and appends it. */
  long append(String arguments) {
    return appendMany(1, arguments);
  }

  /** So many, each with {@code i} from 1 on; returns the last position. */
  long appendMany(int count, String arguments) {
    return database.count(
        """
        select max(a.event_position) from (
          select array_agg(q.id order by q.i) as ids, array_agg(1::smallint) as deliveries
            from (select i, (postrider.enqueue(%s)).id from generate_series(1, %d) i) q) m
         cross join lateral postrider.stream_append(m.ids, m.deliveries) a
        """
            .formatted(arguments, count));
  }

  /** Reads to the end in pages. */
  List<StreamEvent> read(long after, StreamFilter filter, int limit) throws SQLException {
    List<StreamEvent> events = new ArrayList<>();
    StreamPage page = log.after(after, filter, limit);
    events.addAll(page.events());
    while (page.position() < page.latest()) {
      page = log.after(page.position(), filter, limit);
      events.addAll(page.events());
    }
    return events;
  }
}
