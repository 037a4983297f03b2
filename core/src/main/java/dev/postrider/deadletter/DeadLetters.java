package dev.postrider.deadletter;

import dev.postrider.deadletter.DeadLetterPage.Cursor;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.message.Route;
import dev.postrider.operations.Messages;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
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

  private final Database database;
  private final DeadActs acts;

  public DeadLetters(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
    this.acts = new DeadActs(database, this);
  }

  /**
   * A page of dead letters by the time they died. It looks at 100,000 of them at most: a page may
   * be short, or empty, and still have a next one.
   */
  public DeadLetterPage list(
      DeadLetterFilter filter, boolean newestFirst, @Nullable Cursor after, int limit)
      throws SQLException {
    List<DeadLetter> items = new ArrayList<>();
    int size = Messages.pageSize(limit);
    @Nullable Cursor from = after;
    for (int scan = 0; scan < Messages.SCANS_MAX && items.size() < size; scan++) {
      List<Scanned> rows =
          database.list(
              LIST,
              DeadLetters::scanned,
              filter.scanned(),
              newestFirst,
              filter.byError() ? Messages.MAX_PAGE : size - items.size(),
              from == null ? null : from.diedAt(),
              from == null ? null : from.id());
      rows.stream()
          .map(Scanned::letter)
          .filter(Objects::nonNull)
          .filter(filter::covers)
          .forEach(items::add);
      from = rows.get(0).position();
      if (rows.get(0).done()) {
        return cut(items, size, null);
      }
    }
    return cut(items, size, from);
  }

  /** What is too much is for the next page. Those of one message are never cut in two. */
  private static DeadLetterPage cut(List<DeadLetter> items, int size, @Nullable Cursor next) {
    int end = Math.min(size, items.size());
    while (end < items.size() && items.get(end).id().equals(items.get(end - 1).id())) {
      end++;
    }
    if (end == items.size()) {
      return new DeadLetterPage(items, next);
    }
    DeadLetter last = items.get(end - 1);
    return new DeadLetterPage(items.subList(0, end), new Cursor(last.diedAt(), last.id()));
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
    return acts.on(ids, DeadActs.requeuing(actor), DeadLetterFilter.all().in(route).any());
  }

  /** Sends these again, also the discarded among them; returns how many were. */
  public long requeue(String actor, List<UUID> ids) throws SQLException {
    return acts.on(ids, DeadActs.requeuing(actor), DeadLetterFilter.all().any());
  }

  /**
   * Sends again whatever matches and had died when this began, oldest first.
   *
   * @param goOn told the count so far after each batch; false stops
   * @return how many were requeued
   */
  public long requeue(String actor, DeadLetterFilter filter, LongPredicate goOn)
      throws SQLException {
    return acts.onAll(filter, DeadActs.requeuing(actor), goOn);
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
    return acts.on(ids, DeadActs.discarding(actor, reason), DeadLetterFilter.all().in(route));
  }

  /** Gives these up for good; returns how many were. */
  public long discard(String actor, String reason, List<UUID> ids) throws SQLException {
    return acts.on(ids, DeadActs.discarding(actor, reason), DeadLetterFilter.all());
  }

  /** Gives up whatever matches and had died when this began; returns how many that were. */
  public long discard(String actor, String reason, DeadLetterFilter filter, LongPredicate goOn)
      throws SQLException {
    return acts.onAll(filter, DeadActs.discarding(actor, reason), goOn);
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
