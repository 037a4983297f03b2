package dev.postrider.deadletter;

import dev.postrider.deadletter.DeadLetterPage.Cursor;
import dev.postrider.error.RefusedException;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.jdbc.Database.Session;
import dev.postrider.internal.text.Json;
import dev.postrider.message.Route;
import dev.postrider.operations.Messages;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongPredicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters: list them, send them again, give them up. To inspect one, ask {@link Messages}
 * for the message and its attempts. Acts on many run in batches, each in its own transaction, and
 * leave one audit row that counts up. Thread-safe if the data source is.
 */
public final class DeadLetters {
  private static final String LIST =
      """
      select s.p_at, s.p_id, s.done, r.namespace, r.topic, r.subscription as name, m.tenant, m.aggregate_type, m.aggregate_id,
             m.event_type, m.ordering_key, d.*
        from postrider.dead_scan(?::jsonb, ?, 'infinity', ?, ?::timestamptz, ?::uuid) s
        left join lateral unnest(s.hits, s.subscriptions) with ordinality i(id, subscription, place) on true
        left join postrider.dead_letter d
          on d.message_id = i.id and d.subscription = i.subscription and (d.resolved_at is null or d.resolution = 'discarded')
        left join postrider.message m on m.id = d.message_id
        left join postrider.route r on r.id = d.route
       order by i.place
      """;
  private static final String FIND =
      """
      select r.namespace, r.topic, r.subscription as name, m.tenant, m.aggregate_type, m.aggregate_id,
             m.event_type, m.ordering_key, d.*
        from postrider.dead_letter d
        join postrider.message m on m.id = d.message_id
        join postrider.route r on r.id = d.route
       where d.message_id = ? and (d.resolved_at is null or d.resolution = 'discarded')
       order by d.died_at desc limit 101
      """;
  private static final String REQUEUE =
      """
      select requeued as n, audit, at, id, done
        from postrider.requeue_dead(?, ?::jsonb, ?, ?, ?, ?::timestamptz, ?::uuid)
      """;
  private static final String DISCARD =
      """
      select discarded as n, audit, at, id, done
        from postrider.discard_dead(?, ?, ?::jsonb, ?, ?, ?, ?::timestamptz, ?::uuid)
      """;
  private static final int BATCH = 500;

  private final Database database;

  public DeadLetters(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /**
   * A page of dead letters by the time they died. It looks at 100,000 of them at most: a page may
   * be short, or empty, and still have a next one.
   */
  public DeadLetterPage list(
      DeadLetterFilter filter, boolean newestFirst, @Nullable Cursor after, int limit)
      throws SQLException {
    List<DeadLetter> items = new ArrayList<>();
    @Nullable Cursor from = after;
    int left = Messages.pageSize(limit);
    for (int scan = 0; scan < Messages.SCANS_MAX && left > 0; scan++) {
      List<Scanned> rows =
          database.list(
              LIST,
              DeadLetters::scanned,
              filter.json(),
              newestFirst,
              left,
              from == null ? null : from.diedAt(),
              from == null ? null : from.id());
      rows.stream().map(Scanned::letter).filter(Objects::nonNull).forEach(items::add);
      left = limit - items.size();
      from = rows.get(0).position();
      if (rows.get(0).done()) {
        return new DeadLetterPage(items, null);
      }
    }
    return new DeadLetterPage(items, from);
  }

  /** The newest dead letter of a message, if it is dead or was discarded. */
  public Optional<DeadLetter> find(UUID id) throws SQLException {
    return all(id).stream().findFirst();
  }

  /**
   * The dead letters of a message in all subscriptions where it is dead or was discarded, newest
   * first.
   */
  public List<DeadLetter> all(UUID id) throws SQLException {
    return database.list(FIND, DeadLetters::letter, id);
  }

  /**
   * Sends one again to each subscription in which it is dead, or was discarded. False if there is
   * nothing to send again.
   */
  public boolean requeue(String actor, UUID id) throws SQLException {
    return requeue(actor, List.of(id)) > 0;
  }

  /**
   * Sends one again to one subscription, also if it was discarded. False if there is nothing to
   * send again.
   *
   * @param route a subscription of the message's topic
   */
  public boolean requeue(String actor, UUID id, Route route) throws SQLException {
    return requeue(actor, List.of(id), route) > 0;
  }

  /** Sends these again to one subscription, also the discarded ones; returns how many were. */
  public long requeue(String actor, List<UUID> ids, Route route) throws SQLException {
    return each(ids, requeuing(actor, only(route, "any")));
  }

  /** Sends these again, also the discarded among them; returns how many were. */
  public long requeue(String actor, List<UUID> ids) throws SQLException {
    return each(ids, requeuing(actor, "{\"resolution\":\"any\"}"));
  }

  /**
   * Sends again whatever matches and had died when this began, oldest first.
   *
   * @param goOn told the count so far after each batch; false stops
   * @return how many were requeued
   */
  public long requeue(String actor, DeadLetterFilter filter, LongPredicate goOn)
      throws SQLException {
    return all(requeuing(actor, filter.json()), goOn);
  }

  /** Gives one up for good; if its key waited for it, the key goes on. False if it was not dead. */
  public boolean discard(String actor, String reason, UUID id) throws SQLException {
    return discard(actor, reason, List.of(id)) > 0;
  }

  /**
   * Gives one up for one subscription. False if it was not dead there.
   *
   * @param route a subscription of the message's topic
   */
  public boolean discard(String actor, String reason, UUID id, Route route) throws SQLException {
    return discard(actor, reason, List.of(id), route) > 0;
  }

  /** Gives these up for one subscription; returns how many were. */
  public long discard(String actor, String reason, List<UUID> ids, Route route)
      throws SQLException {
    return each(ids, discarding(actor, reason, only(route, null)));
  }

  private static String only(Route route, @Nullable String resolution) {
    Map<String, String> filter = new LinkedHashMap<>();
    filter.put("namespace", route.namespace());
    filter.put("topic", route.topic());
    filter.put("subscription", route.subscription().isEmpty() ? "default" : route.subscription());
    if (resolution != null) {
      filter.put("resolution", resolution);
    }
    return Json.write(filter);
  }

  /** Gives these up for good; returns how many were. */
  public long discard(String actor, String reason, List<UUID> ids) throws SQLException {
    return each(ids, discarding(actor, reason, "{}"));
  }

  /** Gives up whatever matches and had died when this began; returns how many that were. */
  public long discard(String actor, String reason, DeadLetterFilter filter, LongPredicate goOn)
      throws SQLException {
    return all(discarding(actor, reason, filter.json()), goOn);
  }

  /** One batch of an act: on the given ids, or on what matches behind the last batch. */
  @FunctionalInterface
  private interface Act {
    Step apply(Session session, @Nullable List<UUID> ids, Step last) throws SQLException;
  }

  private static Act requeuing(String actor, String filter) {
    RefusedException.ifBlank("actor", actor);
    return (session, ids, last) ->
        session.one(
            REQUEUE, DeadLetters::step, actor, filter, ids, BATCH, last.audit, last.at, last.id);
  }

  private static Act discarding(String actor, String reason, String filter) {
    RefusedException.ifBlank("actor", actor);
    RefusedException.ifBlank("reason", reason);
    return (session, ids, last) ->
        session.one(
            DISCARD,
            DeadLetters::step,
            actor,
            reason,
            filter,
            ids,
            BATCH,
            last.audit,
            last.at,
            last.id);
  }

  private long each(List<UUID> ids, Act act) throws SQLException {
    long count = 0;
    try (Session session = database.open()) {
      for (int i = 0; i < ids.size(); i += BATCH) {
        List<UUID> some = ids.subList(i, Math.min(i + BATCH, ids.size()));
        count += act.apply(session, some, Step.FIRST).count;
      }
    }
    return count;
  }

  private long all(Act act, LongPredicate goOn) throws SQLException {
    long count = 0;
    Step step = Step.FIRST;
    try (Session session = database.open()) {
      do {
        step = act.apply(session, null, step);
        count += step.count;
      } while (goOn.test(count) && !step.done);
    }
    return count;
  }

  private record Step(
      int count, @Nullable Long audit, @Nullable Instant at, @Nullable UUID id, boolean done) {
    static final Step FIRST = new Step(0, null, null, null, false);
  }

  private static Step step(ResultSet row) throws SQLException {
    return new Step(
        row.getInt("n"),
        row.getObject("audit", Long.class),
        Database.instant(row, "at"),
        row.getObject("id", UUID.class),
        row.getBoolean("done"));
  }

  private record Scanned(@Nullable DeadLetter letter, @Nullable Cursor position, boolean done) {}

  private static Scanned scanned(ResultSet row) throws SQLException {
    @Nullable Instant at = Database.instant(row, "p_at");
    return new Scanned(
        row.getObject("message_id") == null ? null : letter(row),
        at == null ? null : new Cursor(at, row.getObject("p_id", UUID.class)),
        row.getBoolean("done"));
  }

  private static DeadLetter letter(ResultSet row) throws SQLException {
    return new DeadLetter(
        row.getObject("message_id", UUID.class),
        row.getInt("delivery"),
        new Route(row.getString("namespace"), row.getString("topic"), row.getString("name")),
        row.getString("tenant"),
        row.getString("aggregate_type"),
        row.getString("aggregate_id"),
        row.getString("event_type"),
        row.getString("ordering_key"),
        row.getObject("sequence", Long.class),
        row.getInt("attempts"),
        row.getBoolean("blocking"),
        Objects.requireNonNull(Database.instant(row, "died_at")),
        row.getString("code"),
        row.getString("error"),
        row.getString("reason"));
  }
}
