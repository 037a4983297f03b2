package dev.postrider.cli.tail;

import dev.postrider.store.Database;
import dev.postrider.store.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Reads new attempts by polling. Attempts have no index by time, and need none: rows are appended,
 * so what is new stands in the last pages of the day's partition, and a scan can start at a page.
 * Several relays fill pages side by side, so the last few pages are looked at again and what was
 * seen is left out. A poll reads a bounded number of pages; if more came since, some are passed
 * over. Used by one thread.
 */
public final class DeliveryTail implements AutoCloseable {
  private static final int PAGES_AGAIN = 32;
  private static final int PAGES_MAX = 512;
  private static final int SEEN_MAX = 100_000;
  private static final int MESSAGES_MAX = 1_000;

  private static final String DAY =
      """
      select p.name, pg_relation_size(format('postrider.%I', p.name)::regclass)
               / current_setting('block_size')::int as pages,
             coalesce(p.from_at, date_trunc('day', now(), 'UTC')) as from_at,
             coalesce(p.to_at, date_trunc('day', now(), 'UTC') + interval '1 day') as to_at
        from postrider.partition p
       where p.parent = 'attempt' and (p.is_default or (p.from_at <= now() and now() < p.to_at))
       order by p.is_default limit 1
      """;

  // The range of time leaves one partition, the ctid its last pages.
  static final String ATTEMPTS =
      """
      select a.message_id, a.delivery, a.no, a.state, a.finished_at, a.latency_ms, a.code
        from postrider.attempt a
       where a.finished_at >= ? and a.finished_at < ? and a.ctid >= ?::tid
       order by a.finished_at, a.message_id
      """;

  private static final String MESSAGES =
      """
      select m.id, r.namespace, r.topic, m.ordering_key, m.sequence, m.event_type, m.is_json,
             case when ? then m.payload end as payload
        from postrider.message m join postrider.route r on r.id = m.route
       where m.id = any (?)
      """;

  private final Database.Session session;
  private final boolean payloads;
  private final Set<Attempt> seen = new LinkedHashSet<>();
  private @Nullable Day day;
  private boolean passedOver;

  /** A partition and its size at a moment. */
  private record Day(String name, long pages, OffsetDateTime from, OffsetDateTime to) {}

  public DeliveryTail(DataSource dataSource, Schema schema, boolean payloads) throws SQLException {
    this.session = new Database(dataSource, schema).open();
    this.payloads = payloads;
  }

  /** What came since the last call; at the first call, what came last. The oldest first. */
  public List<Delivery> next() throws SQLException {
    Day now = session.one(DAY, DeliveryTail::day);
    @Nullable Day last = day;
    day = now;
    List<Delivery> fresh = new ArrayList<>();
    if (last != null && !last.name().equals(now.name())) {
      add(fresh, last, last.pages()); // midnight: the end of yesterday first
      last = new Day(now.name(), 0, now.from(), now.to());
    }
    long from = last == null ? now.pages() : last.pages();
    passedOver = now.pages() - from > PAGES_MAX;
    add(fresh, now, passedOver ? now.pages() - PAGES_MAX / 2 : from);
    return fresh;
  }

  /** Whether more had come than one call reads. */
  public boolean passedOver() {
    return passedOver;
  }

  private void add(List<Delivery> fresh, Day partition, long page) throws SQLException {
    String start = "(" + Math.max(0, page - PAGES_AGAIN) + ",0)";
    List<Attempt> unseen = new ArrayList<>();
    for (Attempt attempt :
        session.list(ATTEMPTS, Attempt::read, partition.from(), partition.to(), start)) {
      if (seen.add(attempt)) {
        unseen.add(attempt);
      }
    }
    for (int i = 0; i < unseen.size(); i += MESSAGES_MAX) {
      complete(fresh, unseen.subList(i, Math.min(i + MESSAGES_MAX, unseen.size())));
    }
    while (seen.size() > SEEN_MAX) {
      seen.remove(seen.iterator().next());
    }
  }

  /** Messages are looked up only for what is new. */
  private void complete(List<Delivery> fresh, List<Attempt> attempts) throws SQLException {
    List<UUID> ids = attempts.stream().map(Attempt::messageId).distinct().toList();
    Map<UUID, Sent> messages = new HashMap<>();
    session
        .list(MESSAGES, Sent::read, payloads, ids)
        .forEach(message -> messages.put(message.id(), message));
    for (Attempt attempt : attempts) {
      @Nullable Sent message = messages.get(attempt.messageId());
      if (message != null) { // archived meanwhile
        fresh.add(new Delivery(attempt, message));
      }
    }
  }

  private static Day day(ResultSet row) throws SQLException {
    return new Day(
        row.getString("name"),
        row.getLong("pages"),
        row.getObject("from_at", OffsetDateTime.class),
        row.getObject("to_at", OffsetDateTime.class));
  }

  @Override
  public void close() throws SQLException {
    session.close();
  }
}
