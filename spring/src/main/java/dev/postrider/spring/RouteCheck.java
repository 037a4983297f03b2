package dev.postrider.spring;

import dev.postrider.internal.text.LogLine;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import dev.postrider.spring.OutboxProperties.Unrouted;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for a route when a topic is published to for the first time: in this application, then
 * among the relays that the database knows. Those that stopped less than a day ago count, so that a
 * restart of the fleet is no error. Thread-safe.
 */
final class RouteCheck {
  private static final Logger log = LoggerFactory.getLogger(RouteCheck.class);
  private static final String NOT_ALLOWED = "42501";

  // A loop on the lease store does not say what it serves. A worker without a record is a relay
  // that is just starting; that of this application does not count, since its routes are known.
  private static final String ROUTED =
      """
      select case
        when exists (select from postrider.relay_route t
                       join postrider.worker w on w.id = t.worker
                      where t.namespace in (?::text, '*') and t.topic in (?::text, '*')
                        and w.seen_at > now() - interval '1 day')
          or exists (select from postrider.route r
                      where r.namespace = ?::text and r.topic = ?::text and r.fans_out)
          or exists (select from postrider.worker w
                      where w.instance = '' and w.stopped_at is null
                        and w.seen_at > now() - interval '10 minutes') then 'routed'
        when exists (select from postrider.worker w
                       left join postrider.relay r on r.instance = w.instance
                      where r.instance is null and w.stopped_at is null
                        and w.seen_at > now() - interval '2 minutes'
                        and regexp_replace(w.name, '/[0-9]+$', '') <> ?::text) then 'unknown'
        else 'none' end
      """;

  private final String routed;
  private final @Nullable Unrouted wanted;
  private final boolean relays;
  private final Supplier<List<RelayPlan.Line>> lines;
  private final Supplier<String> relay;
  private volatile @Nullable List<RelayPlan.Line> here;
  private final Set<Route> known = ConcurrentHashMap.newKeySet();

  /**
   * @param wanted null to fail if this application carries messages, and to warn otherwise
   * @param relays whether this application has a relay
   * @param lines the routes of this application, asked for when a topic is new
   * @param relay the name of this application's relay; empty if none runs
   */
  RouteCheck(
      Schema schema,
      @Nullable Unrouted wanted,
      boolean relays,
      Supplier<List<RelayPlan.Line>> lines,
      Supplier<String> relay) {
    this.routed = schema.sql(ROUTED);
    this.wanted = wanted;
    this.relays = relays;
    this.lines = lines;
    this.relay = relay;
  }

  /** Before the messages are written, in their transaction. */
  void check(Connection connection, List<NewMessage> messages) throws SQLException {
    if (wanted == Unrouted.ALLOW) {
      return;
    }
    for (NewMessage message : messages) {
      Route route = message.route();
      if (!known.contains(route) && settled(connection, route)) {
        known.add(route);
      }
    }
  }

  /** Whether this application has a relay with a route for the topic. */
  boolean servesHere(Route route) {
    return relays && !RelayPlan.linesOf(here(), route).isEmpty();
  }

  /** False if the topic must be looked at again next time. */
  private boolean settled(Connection connection, Route route) throws SQLException {
    List<RelayPlan.Line> own = here();
    String elsewhere =
        RelayPlan.linesOf(own, route).isEmpty() ? found(connection, route) : "routed";
    if (!elsewhere.equals("none")) {
      return elsewhere.equals("routed");
    }
    boolean fails = wanted == null ? relays && !own.isEmpty() : wanted == Unrouted.FAIL;
    if (fails) {
      throw new NoRouteException(
          "%s has no route: no relay on the database serves it, so its messages would wait. Nothing"
                  .formatted(route)
              + " was written. Routes of this application: %s. Add".formatted(own)
              + " @OutboxHandler(namespace = \"%s\", topic = \"%s\") or an entry of"
                  .formatted(route.namespace(), route.topic())
              + " postrider.routes. If a relay will serve it later, set postrider.unrouted=warn");
    }
    log.warn(
        "{}",
        LogLine.of("outbox_publish_unrouted")
            .put("topic", route)
            .put("advice", "no relay has a route for it yet; its messages wait"));
    return true;
  }

  /** An application without a relay may have routes that only make sense elsewhere. */
  private List<RelayPlan.Line> here() {
    List<RelayPlan.Line> found = here;
    if (found == null) {
      try {
        found = lines.get();
      } catch (StartException e) {
        log.debug("{}", LogLine.of("outbox_routes_unreadable").put("reason", e.getMessage()));
        found = List.of();
      }
      here = found;
    }
    return found;
  }

  /** Routed as well for a login that may not look. */
  private String found(Connection connection, Route route) throws SQLException {
    Savepoint before = connection.setSavepoint();
    try (PreparedStatement statement = connection.prepareStatement(routed)) {
      statement.setString(1, route.namespace());
      statement.setString(2, route.topic());
      statement.setString(3, route.namespace());
      statement.setString(4, route.topic());
      statement.setString(5, relay.get());
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getString(1);
      }
    } catch (SQLException e) {
      connection.rollback(before);
      if (NOT_ALLOWED.equals(e.getSQLState())) {
        return "routed";
      }
      throw e;
    } finally {
      connection.releaseSavepoint(before);
    }
  }
}
