package dev.postrider.internal.monitor;

import static java.util.stream.Collectors.joining;

import dev.postrider.internal.jdbc.Database;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads new attempts by polling. Attempts have no index by time, and need none: rows are appended,
 * so what is new stands in the last pages of the day's partition, and a scan can start at a page.
 * Several relays fill pages side by side, so the last few pages are looked at again and what was
 * seen is left out. A poll reads a bounded number of pages; if more came since, some are passed
 * over. Sessions may change between calls. Used by one thread.
 */
public final class DeliveryTail {
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
      select a.message_id, a.subscription, a.delivery, a.no, a.state, a.finished_at, a.latency_ms, a.code, a.worker
        from postrider.attempt a
       where a.finished_at >= ? and a.finished_at < ? and a.ctid >= ?::tid
       order by a.finished_at, a.message_id
      """;

  private static final String MESSAGES =
      """
      select m.id, m.route, r.namespace, r.topic, r.fans_out, m.ordering_key, m.sequence, m.event_type, m.is_json,
             case when ? then m.payload end as payload
        from postrider.message m join postrider.route r on r.id = m.route
       where m.id = any (?)
      """;

  private static final String NAMES =
      """
      select r.topic_id, r.number, r.subscription from postrider.route r
       where r.topic_id = any (?::int[]) and r.topic_id > 0
      """;

  private static final String RELAYS =
      """
      select w.id, regexp_replace(w.name, '/[0-9]+$', '') from postrider.worker w where w.id = any (?::int[])
      """;

  // The statistics of PostgreSQL, which cost nothing to read. They count what was rolled back too,
  // and forget what was in a partition that is removed.
  private static final String ENQUEUED =
      """
      select coalesce(sum(pg_stat_get_tuples_inserted(i.inhrelid)), 0)::bigint
        from pg_inherits i where i.inhparent = 'postrider.message'::regclass
      """;

  private final boolean payloads;
  private final Set<Attempt> seen = new LinkedHashSet<>();
  private @Nullable Day day;
  private boolean passedOver;
  private double share = 1;

  /** A partition and its size at a moment. */
  private record Day(String name, long pages, OffsetDateTime from, OffsetDateTime to) {}

  /**
   * Nothing is read yet.
   *
   * @param payloads whether messages are read with their payloads
   */
  public DeliveryTail(boolean payloads) {
    this.payloads = payloads;
  }

  /** What came since the last call; at the first call, what came last. The oldest first. */
  public List<Delivery> next(Database.Session session) throws SQLException {
    return complete(session, attempts(session));
  }

  /** The same without their messages, which {@link #complete} looks up. */
  public List<Attempt> attempts(Database.Session session) throws SQLException {
    Day now = session.one(DAY, DeliveryTail::day);
    @Nullable Day last = day;
    day = now;
    List<Attempt> fresh = new ArrayList<>();
    if (last != null && !last.name().equals(now.name())) {
      add(session, fresh, last, last.pages()); // midnight: the end of yesterday first
      last = new Day(now.name(), 0, now.from(), now.to());
    }
    long from = last == null ? now.pages() : last.pages();
    passedOver = now.pages() - from > PAGES_MAX;
    share = passedOver ? (double) (PAGES_MAX / 2) / (now.pages() - from) : 1;
    add(session, fresh, now, passedOver ? now.pages() - PAGES_MAX / 2 : from);
    return fresh;
  }

  /** Whether more had come than one call reads. */
  public boolean passedOver() {
    return passedOver;
  }

  /** How much of what came since was read: 1 unless some was passed over. */
  public double share() {
    return share;
  }

  /** Messages that were ever enqueued, by the server's statistics: for rates, not for accounts. */
  public static long enqueued(Database.Session session) throws SQLException {
    return session.one(ENQUEUED, row -> row.getLong(1));
  }

  private void add(Database.Session session, List<Attempt> unseen, Day partition, long page)
      throws SQLException {
    String start = "(" + Math.max(0, page - PAGES_AGAIN) + ",0)";
    for (Attempt attempt :
        session.list(ATTEMPTS, Attempt::read, partition.from(), partition.to(), start)) {
      if (seen.add(attempt)) {
        unseen.add(attempt);
      }
    }
    while (seen.size() > SEEN_MAX) {
      seen.remove(seen.iterator().next());
    }
  }

  /** Looks the messages of attempts up; those that were archived meanwhile are left out. */
  public List<Delivery> complete(Database.Session session, List<Attempt> attempts)
      throws SQLException {
    List<Delivery> deliveries = new ArrayList<>();
    for (int i = 0; i < attempts.size(); i += MESSAGES_MAX) {
      complete(
          session, deliveries, attempts.subList(i, Math.min(i + MESSAGES_MAX, attempts.size())));
    }
    return deliveries;
  }

  private void complete(Database.Session session, List<Delivery> fresh, List<Attempt> attempts)
      throws SQLException {
    List<UUID> ids = attempts.stream().map(Attempt::messageId).distinct().toList();
    Map<UUID, Sent> messages = new HashMap<>();
    Map<UUID, Integer> topics = new HashMap<>();
    session.list(
        MESSAGES,
        row -> {
          Sent message = Sent.read(row);
          if (row.getBoolean("fans_out")) {
            topics.put(message.id(), row.getInt("route"));
          }
          return messages.put(message.id(), message);
        },
        payloads,
        ids);
    Map<Subscriber, String> names = names(session, topics.values());
    Map<Integer, String> relays = relays(session, attempts);
    for (Attempt attempt : attempts) {
      @Nullable Sent message = messages.get(attempt.messageId());
      if (message != null) { // archived meanwhile
        Subscriber to =
            new Subscriber(topics.getOrDefault(message.id(), 0), attempt.subscription());
        @Nullable Integer worker = attempt.worker();
        fresh.add(
            new Delivery(
                attempt,
                message,
                names.getOrDefault(to, ""),
                worker == null ? null : relays.get(worker)));
      }
    }
  }

  /** A named subscription by the numbers that an attempt has. */
  private record Subscriber(int topic, int number) {}

  private static Map<Subscriber, String> names(Database.Session session, Collection<Integer> topics)
      throws SQLException {
    Map<Subscriber, String> names = new HashMap<>();
    if (!topics.isEmpty()) {
      session.list(
          NAMES,
          row -> names.put(new Subscriber(row.getInt(1), row.getInt(2)), row.getString(3)),
          topics.stream().distinct().map(String::valueOf).collect(joining(",", "{", "}")));
    }
    return names;
  }

  private static Map<Integer, String> relays(Database.Session session, List<Attempt> attempts)
      throws SQLException {
    Map<Integer, String> relays = new HashMap<>();
    String workers =
        attempts.stream()
            .map(Attempt::worker)
            .filter(Objects::nonNull)
            .distinct()
            .map(String::valueOf)
            .collect(joining(",", "{", "}"));
    session.list(RELAYS, row -> relays.put(row.getInt(1), row.getString(2)), workers);
    return relays;
  }

  private static Day day(ResultSet row) throws SQLException {
    return new Day(
        row.getString("name"),
        row.getLong("pages"),
        row.getObject("from_at", OffsetDateTime.class),
        row.getObject("to_at", OffsetDateTime.class));
  }
}
