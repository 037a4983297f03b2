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
    // A named topic beats the wildcard of its namespace.
    this.lines =
        lines.stream().sorted(Comparator.comparing(line -> line.topic().equals(Line.ANY))).toList();
    this.routes = schema.sql(ROUTES);
    this.pausedDestinations = schema.sql(PAUSED_DESTINATIONS);
  }

  private record Served(int routeId, Line line) {}

  private record Table(Map<Integer, Route> names, List<Served> open) {}

  /** What one claim may take. */
  record Load(List<Integer> routes, int limit, long bytes) {}

  /** Reads routes and pauses again. */
  void refresh(Connection connection) throws SQLException {
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
    table = new Table(Map.copyOf(names), List.copyOf(open));
  }

  /**
   * What may be claimed now, as few claims as possible: one for all destinations with room to
   * spare, and a single message for each that is to be probed. A destination that is nearly full
   * waits until a claim is worth its while.
   */
  List<Load> loads(int batchSize) {
    List<Load> loads = new ArrayList<>();
    Map<Dispatcher, Room> rooms = new HashMap<>();
    List<Integer> normal = new ArrayList<>();
    int limit = batchSize;
    long bytes = Long.MAX_VALUE;
    Map<Dispatcher, List<Integer>> probes = new HashMap<>();
    for (Served served : table.open()) {
      Dispatcher dispatcher = served.line().dispatcher();
      Room room = rooms.computeIfAbsent(dispatcher, Dispatcher::room);
      if (room.probe()) {
        probes.computeIfAbsent(dispatcher, d -> new ArrayList<>()).add(served.routeId());
      } else if (room.messages() >= Math.min(batchSize, dispatcher.maxInFlight()) / 4.0) {
        normal.add(served.routeId());
        limit = Math.min(limit, room.messages());
        bytes = Math.min(bytes, room.bytes());
      }
    }
    if (!normal.isEmpty()) {
      loads.add(new Load(normal, limit, bytes));
    }
    probes.forEach((dispatcher, routes) -> loads.add(new Load(routes, 1, Long.MAX_VALUE)));
    return loads;
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
