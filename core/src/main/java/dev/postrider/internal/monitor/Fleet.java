package dev.postrider.internal.monitor;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * All relays on the database, wherever they run, with what they recorded about themselves.
 * Thread-safe if the data source is.
 */
public final class Fleet {
  // A relay has one worker for each carrier, name/1 and so on. One that was killed days ago and
  // holds nothing is history.
  private static final String RELAYS =
      """
      with found as (
        select regexp_replace(w.name, '/[0-9]+$', '') as name, w.instance, min(r.worker) as worker,
               min(w.started_at) as started_at,
               extract(epoch from now() - max(w.seen_at))::bigint as seconds,
               coalesce(sum(l.open), 0) as open, coalesce(sum(l.leases), 0) as leases
          from postrider.worker w
          left join postrider.relay r on r.worker = w.id and r.instance = w.instance
          left join (select l.worker, sum(l.open) as open, count(*) as leases
                       from postrider.lease l group by l.worker) l on l.worker = w.id
         where w.stopped_at is null and (w.seen_at > now() - interval '1 day' or l.open > 0)
         group by 1, 2 order by 5, 1, 2 limit 100)
      select f.*, r.version, r.host, r.pid, d.names, d.types, d.breakers, d.open_targets, d.since, d.probes,
             t.namespaces, t.topics, t.subscriptions, t.destinations
        from found f left join postrider.relay r on r.worker = f.worker
       cross join lateral (
         select coalesce(array_agg(d.name), '{}') as names,
                coalesce(array_agg(d.type), '{}') as types,
                coalesce(array_agg(d.breaker), '{}') as breakers,
                coalesce(array_agg(d.open_targets), '{}') as open_targets,
                coalesce(array_agg((extract(epoch from d.changed_at) * 1000)::bigint), '{}') as since,
                coalesce(array_agg((extract(epoch from d.probe_at) * 1000)::bigint), '{}') as probes
           from (select * from postrider.relay_destination d
                  where d.worker = f.worker order by d.name limit 100) d) d
       cross join lateral (
         select coalesce(array_agg(t.namespace), '{}') as namespaces,
                coalesce(array_agg(t.topic), '{}') as topics,
                coalesce(array_agg(t.subscription), '{}') as subscriptions,
                coalesce(array_agg(t.destination), '{}') as destinations
           from (select * from postrider.relay_route t
                  where t.worker = f.worker order by t.namespace, t.topic, t.subscription limit 100) t) t
       order by f.seconds, f.name, f.instance
      """;

  /** The route that leaves least open wins; the namespace counts first. */
  private static final String DESTINATIONS =
      """
      select distinct f.destination
        from (select distinct on (t.worker) t.destination
                from postrider.relay r
                join postrider.worker w on w.id = r.worker and w.instance = r.instance
                join postrider.relay_route t on t.worker = r.worker
               where w.stopped_at is null and w.seen_at > now() - interval '2 minutes'
                 and t.namespace in (?, '*') and t.topic in (?, '*') and t.subscription = ?
               order by t.worker, t.namespace = '*', t.topic = '*') f
       order by 1
      """;

  private static final String UNROUTED =
      "select namespace, topic, subscription from postrider.unrouted_topics()";

  private final Database database;

  public Fleet(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /**
   * The fleet at one moment. Immutable.
   *
   * @param relays those seen last first; a hundred at most
   * @param unrouted topics with queued messages that no living relay has a route for, a hundred at
   *     most; empty if no relay lives, or if a loop on the lease store may serve them
   */
  public record State(List<LiveRelay> relays, List<Route> unrouted) {
    public State {
      relays = List.copyOf(relays);
      unrouted = List.copyOf(unrouted);
    }

    /** The relays that were seen lately. */
    public List<LiveRelay> living() {
      return relays.stream().filter(relay -> !relay.lost()).toList();
    }
  }

  public State read() throws SQLException {
    try (Database.Session session = database.open()) {
      return new State(
          session.list(RELAYS, Fleet::relay),
          session.list(
              UNROUTED, row -> new Route(row.getString(1), row.getString(2), row.getString(3))));
    }
  }

  /** Where living relays send messages of a topic: their names in order, usually one. */
  public List<String> destinationsOf(Route route) throws SQLException {
    return database.list(
        DESTINATIONS,
        row -> row.getString(1),
        route.namespace(),
        route.topic(),
        route.subscription());
  }

  private static LiveRelay relay(ResultSet row) throws SQLException {
    return new LiveRelay(
        row.getString("name"),
        row.getString("instance"),
        row.getString("version"),
        row.getString("host"),
        row.getObject("pid", Long.class),
        Objects.requireNonNull(Database.instant(row, "started_at")),
        Duration.ofSeconds(row.getLong("seconds")),
        row.getLong("open"),
        row.getLong("leases"),
        destinations(row),
        routes(row));
  }

  private static List<LiveRelay.Served> destinations(ResultSet row) throws SQLException {
    String[] names = texts(row.getArray("names"));
    String[] types = texts(row.getArray("types"));
    String[] breakers = texts(row.getArray("breakers"));
    Integer[] openTargets = (Integer[]) row.getArray("open_targets").getArray();
    Long[] since = (Long[]) row.getArray("since").getArray();
    @Nullable Long[] probes = (Long[]) row.getArray("probes").getArray();
    List<LiveRelay.Served> served = new ArrayList<>();
    for (int i = 0; i < names.length; i++) {
      @Nullable Long probe = probes[i];
      served.add(
          new LiveRelay.Served(
              names[i],
              types[i],
              breakers[i],
              openTargets[i],
              Instant.ofEpochMilli(since[i]),
              probe == null ? null : Instant.ofEpochMilli(probe)));
    }
    return served;
  }

  private static List<LiveRelay.ServedRoute> routes(ResultSet row) throws SQLException {
    String[] namespaces = texts(row.getArray("namespaces"));
    String[] topics = texts(row.getArray("topics"));
    String[] subscriptions = texts(row.getArray("subscriptions"));
    String[] destinations = texts(row.getArray("destinations"));
    List<LiveRelay.ServedRoute> routes = new ArrayList<>();
    for (int i = 0; i < namespaces.length; i++) {
      routes.add(
          new LiveRelay.ServedRoute(namespaces[i], topics[i], subscriptions[i], destinations[i]));
    }
    return routes;
  }

  private static String[] texts(Array array) throws SQLException {
    return (String[]) array.getArray();
  }
}
