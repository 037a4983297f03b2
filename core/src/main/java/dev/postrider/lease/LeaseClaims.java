package dev.postrider.lease;

import dev.postrider.internal.claim.MessageRow;
import dev.postrider.message.Message;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Claims messages for a lease store, from where its last claim ended. Thread-safe. */
final class LeaseClaims {
  /** How many full claims may pass before messages are fanned out. */
  private static final int FAN_OUT_EVERY = 16;

  // The routes are read in the same statement, so that a new topic is never missed. The last row
  // has no message, only the cursor for the next claim.
  private static final String CLAIM =
      """
      select c.*, r.namespace, r.topic, r.subscription
        from postrider.claim_from(?, ?, ?, ?, array(
               select w.id from postrider.queued_routes() q join postrider.route w on w.id = q.route
                where exists (select from unnest(?, ?, ?) as g(namespace, topic, subscription)
                               where w.namespace = g.namespace and w.subscription = g.subscription
                                 and (g.topic is null or w.topic = g.topic))
                order by not q.ready, w.id <= coalesce((?::postrider.claim_cursor).route, 0), w.id
                limit 1000),
               ?::postrider.claim_cursor, p_alone => ?) with ordinality c
        left join postrider.route r on r.id = c.route
       order by c.ordinality
      """;
  private static final String FAN_OUT =
      """
      select pg_catalog.cardinality(f.routes) > 0 from (
        select pg_catalog.array_agg(n.id) as topics from (
          select w.id from postrider.queued_routes() q join postrider.route w on w.id = -q.route
           where exists (select from unnest(?, ?) as g(namespace, topic)
                          where w.namespace = g.namespace
                            and (g.topic is null or w.topic = g.topic))
           order by random() limit 16) n) t
       cross join lateral postrider.fan_out(t.topics, 8000, '{}') f
       where t.topics is not null
      """;

  private final QueryRunner queries;
  private final Schema schema;
  private final long maxBytes;
  private final AtomicInteger claims = new AtomicInteger();
  private volatile @Nullable String cursor;
  private volatile boolean suspects;
  private final Set<Integer> named = ConcurrentHashMap.newKeySet();

  LeaseClaims(QueryRunner queries, Schema schema, long maxBytes) {
    this.queries = queries;
    this.schema = schema;
    this.maxBytes = maxBytes;
  }

  /**
   * @param routes namespaces, topics and subscriptions, in parallel; a null topic means all
   */
  List<Message> take(int worker, @Nullable String[][] routes, int limit, long leaseMs) {
    if (suspects) {
      List<Message> suspect = claim(worker, routes, limit, leaseMs, true);
      suspects = false;
      if (!suspect.isEmpty()) {
        return suspect;
      }
    }
    List<Message> claimed = claim(worker, routes, limit, leaseMs, false);
    boolean look = claimed.size() < limit || claims.incrementAndGet() % FAN_OUT_EVERY == 0;
    return look && fanOut(routes) && claimed.isEmpty()
        ? claim(worker, routes, limit, leaseMs, false)
        : claimed;
  }

  /** The named subscriptions of which messages were taken. */
  Array namedRoutes(PreparedStatement call) throws SQLException {
    return call.getConnection().createArrayOf("int4", named.toArray());
  }

  /** Messages of a topic with several subscriptions may not be fanned out yet. */
  private boolean fanOut(@Nullable String[][] routes) {
    return queries
        .rows(
            "fan out",
            schema.sql(FAN_OUT),
            call -> {
              call.setArray(1, call.getConnection().createArrayOf("text", routes[0]));
              call.setArray(2, call.getConnection().createArrayOf("text", routes[1]));
            },
            row -> row.getBoolean(1))
        .contains(true);
  }

  /**
   * @param alone for a single message that is suspected of killing its workers
   */
  private List<Message> claim(
      int worker, @Nullable String[][] routes, int limit, long leaseMs, boolean alone) {
    List<Optional<Message>> rows =
        queries.rows(
            "claim",
            schema.sql(CLAIM),
            call -> {
              call.setInt(1, worker);
              call.setInt(2, limit);
              call.setLong(3, maxBytes);
              call.setLong(4, leaseMs);
              call.setArray(5, call.getConnection().createArrayOf("text", routes[0]));
              call.setArray(6, call.getConnection().createArrayOf("text", routes[1]));
              call.setArray(7, call.getConnection().createArrayOf("text", routes[2]));
              call.setString(8, cursor);
              call.setString(9, cursor);
              call.setBoolean(10, alone);
            },
            this::messageOrCursor);
    return rows.stream().flatMap(Optional::stream).toList();
  }

  private Optional<Message> messageOrCursor(ResultSet row) throws SQLException {
    if (row.getObject("id") == null) {
      cursor = row.getString("cursor");
      suspects = row.getBoolean("suspects");
      return Optional.empty();
    }
    Route route =
        new Route(
            row.getString("namespace"), row.getString("topic"), row.getString("subscription"));
    if (!route.subscription().isEmpty()) {
      named.add(row.getInt("route"));
    }
    return Optional.of(MessageRow.read(row, route));
  }
}
