package dev.postrider.deadletter;

import dev.postrider.deadletter.DeadLetterPage.Cursor;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.message.Route;
import dev.postrider.operations.Messages;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Keys that wait for an operator. Thread-safe if the data source is. */
public final class BlockedKeys {
  private static final String LIST =
      """
      select r.namespace, r.topic, r.subscription, m.ordering_key, d.message_id, d.sequence, d.died_at, d.code, d.error,
             extract(epoch from now() - d.died_at)::bigint as seconds,
             (select count(*) from (select from postrider.queue q
                where q.key_id = d.key_id and q.sequence > d.sequence limit ?) few) as followers
        from (select * from postrider.dead_letter d
               where d.resolved_at is null and d.blocking
                 and (d.died_at, d.message_id) > (coalesce(?::timestamptz, '-infinity'), ?)
               order by d.died_at, d.message_id limit ?) d
        join postrider.message m on m.id = d.message_id
        join postrider.route r on r.id = d.route
       order by d.died_at, d.message_id
      """;
  private static final String HEAD =
      """
      select h.id, r.namespace, r.topic, r.subscription
        from postrider.ordering_key k
        left join postrider.route s
          on s.namespace = k.namespace and s.topic = ? and s.subscription = ? and s.subscription <> ''
       cross join lateral (
          select q.id, q.blocked, q.route from postrider.queue q
           where q.key_id = case when s.id is null then k.id else postrider.subscription_key(k.id, s.id) end
           order by q.sequence limit 1) h
        join postrider.route r on r.id = h.route
       where k.namespace = ? and k.key = ? and k.generation = 0 and h.blocked and (? = '' or s.id is not null)
      """;

  private final Database database;
  private final DeadLetters deadLetters;

  public BlockedKeys(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
    this.deadLetters = new DeadLetters(dataSource, schema);
  }

  /**
   * A page of blocked keys, those that wait longest first.
   *
   * @param after the last of the page before, null for the first page
   */
  public List<BlockedKey> list(@Nullable BlockedKey after, int limit) throws SQLException {
    return page(after == null ? null : new Cursor(after.blockedAt(), after.head()), limit);
  }

  /** The same, from a place in the list: the time of death and the id of a dead head. */
  public List<BlockedKey> page(@Nullable Cursor after, int limit) throws SQLException {
    return database.list(
        LIST,
        BlockedKeys::blockedKey,
        BlockedKey.MOST,
        after == null ? null : after.diedAt(),
        after == null ? new UUID(0, 0) : after.id(),
        Messages.pageSize(limit));
  }

  /** Tries the key's dead head again; its followers keep waiting for it. */
  public boolean retry(String actor, String namespace, String key) throws SQLException {
    return retry(actor, new Route(namespace, ""), key);
  }

  /**
   * The same for a key of a named subscription.
   *
   * @param route the subscription
   */
  public boolean retry(String actor, Route route, String key) throws SQLException {
    Optional<Head> head = head(route, key);
    return head.isPresent() && deadLetters.requeue(actor, head.get().id, head.get().route);
  }

  /** Discards the key's dead head, so that its followers go on without it. */
  public boolean skip(String actor, String reason, String namespace, String key)
      throws SQLException {
    return skip(actor, reason, new Route(namespace, ""), key);
  }

  /**
   * The same for a key of a named subscription.
   *
   * @param route the subscription
   */
  public boolean skip(String actor, String reason, Route route, String key) throws SQLException {
    Optional<Head> head = head(route, key);
    return head.isPresent() && deadLetters.discard(actor, reason, head.get().id, head.get().route);
  }

  private record Head(UUID id, Route route) {}

  /** In the default subscription the order of a key holds across topics. */
  private Optional<Head> head(Route route, String key) throws SQLException {
    return database
        .list(
            HEAD,
            row ->
                new Head(
                    row.getObject(1, UUID.class),
                    new Route(row.getString(2), row.getString(3), row.getString(4))),
            route.topic(),
            route.subscription(),
            route.namespace(),
            key,
            route.subscription())
        .stream()
        .findFirst();
  }

  private static BlockedKey blockedKey(ResultSet row) throws SQLException {
    return new BlockedKey(
        row.getString("namespace"),
        row.getString("ordering_key"),
        row.getObject("message_id", UUID.class),
        new Route(
            row.getString("namespace"), row.getString("topic"), row.getString("subscription")),
        row.getLong("sequence"),
        Objects.requireNonNull(Database.instant(row, "died_at")),
        Duration.ofSeconds(row.getLong("seconds")),
        row.getInt("followers"),
        row.getString("code"),
        row.getString("error"));
  }
}
