package dev.postrider.relay;

import dev.postrider.dispatch.Dispatcher;
import dev.postrider.dispatch.Dispatcher.Room;
import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import dev.postrider.store.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The routes of the database, matched with this relay's lines. Messages of a topic that no line
 * serves, or that is paused, stay where they are. Thread-safe.
 */
final class Routing {
  private static final String ROUTES =
      """
      select r.id, r.namespace, r.topic,
             exists (select from postrider.pause p
                      where p.kind = 'topic' and p.name = r.namespace || '/' || r.topic)
        from postrider.route r
      """;
  private static final String PAUSED_DESTINATIONS =
      "select name from postrider.pause where kind = 'destination'";

  private final List<Line> lines;
  private final String routes;
  private final String pausedDestinations;
  private volatile Table table = new Table(Map.of(), List.of());

  Routing(List<Line> lines, Schema schema) {
    this.lines = lines.stream().sorted(Comparator.comparingInt(Line::openness)).toList();
    this.routes = schema.sql(ROUTES);
    this.pausedDestinations = schema.sql(PAUSED_DESTINATIONS);
  }

  private record Served(int routeId, Line line) {}

  private record Table(Map<Integer, Route> names, List<Served> open) {}

  /** What one claim may take, for one destination; its room is set aside until {@link #done}. */
  record Load(Dispatcher dispatcher, Room room, List<Integer> routes) {
    void done() {
      dispatcher.unreserve(room);
    }
  }

  /** Reads routes and pauses again; returns whether there is now more to claim from. */
  boolean refresh(Connection connection) throws SQLException {
    Set<String> paused = new HashSet<>();
    Map<Integer, Route> names = new HashMap<>();
    List<Served> open = new ArrayList<>();
    try (Statement statement = connection.createStatement()) {
      try (ResultSet row = statement.executeQuery(pausedDestinations)) {
        while (row.next()) {
          paused.add(row.getString(1));
        }
      }
      try (ResultSet row = statement.executeQuery(routes)) {
        while (row.next()) {
          Route route = new Route(row.getString(2), row.getString(3));
          names.put(row.getInt(1), route);
          Line line = lineOf(route);
          if (line != null && !row.getBoolean(4) && !paused.contains(line.dispatcher().name())) {
            open.add(new Served(row.getInt(1), line));
          }
        }
      }
    }
    boolean more = !table.open().containsAll(open);
    table = new Table(Map.copyOf(names), List.copyOf(open));
    return more;
  }

  /**
   * What may be claimed now: one claim per destination with room to spare. Not one for all of them:
   * a key's messages for two destinations in one claim would be sent side by side, and a slow
   * destination's limits would be everyone's.
   */
  List<Load> loads(int batchSize, int claims) {
    Map<Dispatcher, List<Integer>> routes = new LinkedHashMap<>();
    for (Served served : table.open()) {
      routes
          .computeIfAbsent(served.line().dispatcher(), d -> new ArrayList<>())
          .add(served.routeId());
    }
    List<Load> loads = new ArrayList<>();
    routes.forEach(
        (dispatcher, ids) -> {
          Room room = dispatcher.reserve(batchSize, claims);
          if (room != null) {
            loads.add(new Load(dispatcher, room, ids));
          }
        });
    return loads;
  }

  /** Whether there is any topic that this relay may claim from. */
  boolean servesSomething() {
    return !table.open().isEmpty();
  }

  Route name(int routeId) {
    Route route = table.names().get(routeId);
    if (route == null) {
      throw new PostriderException("claimed a message of the unknown route " + routeId);
    }
    return route;
  }

  Line line(Route route) {
    Line line = lineOf(route);
    if (line == null) {
      throw new PostriderException("no line serves " + route);
    }
    return line;
  }

  private @Nullable Line lineOf(Route route) {
    for (Line line : lines) {
      if (line.serves(route)) {
        return line;
      }
    }
    return null;
  }
}
