package dev.postrider.relay;

import dev.postrider.dispatch.Amount;
import dev.postrider.dispatch.Dispatcher;
import dev.postrider.dispatch.Dispatcher.Room;
import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import dev.postrider.store.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The topics with messages, matched with this relay's lines. A topic is looked up when it is first
 * met: in the queue, or because a producer rang for it. So the cost follows the topics that are
 * active, not those that exist. Messages of a topic that no line serves, or that is paused, stay
 * where they are. Thread-safe.
 */
final class Routing {
  /** How many topics one claim looks at; with more of them claims take turns. */
  static final int ROUTES_PER_CLAIM = 64;

  private static final Duration DISCOVER_EVERY = Duration.ofMillis(20);

  private static final String QUEUED = "select * from postrider.queued_routes()";
  private static final String NAMES =
      "select id, namespace, topic from postrider.route where id = any (?)";
  private static final String PAUSES = "select kind, name from postrider.pause";

  private final List<Line> lines;
  private final String queued;
  private final String names;
  private final String pauses;
  private final Map<Integer, Known> known = new ConcurrentHashMap<>();
  private final Map<Dispatcher, Traffic> traffic = new LinkedHashMap<>();
  private volatile Set<String> paused = Set.of();
  private volatile boolean unknownRung;
  private volatile long discoveredAtNanos = System.nanoTime();

  Routing(List<Line> lines, Schema schema) {
    this.lines = lines.stream().sorted(Comparator.comparingInt(Line::openness)).toList();
    this.queued = schema.sql(QUEUED);
    this.names = schema.sql(NAMES);
    this.pauses = schema.sql(PAUSES);
    for (Line line : lines) {
      traffic.computeIfAbsent(line.dispatcher(), d -> new Traffic());
    }
  }

  /** A topic, and the line that serves it, if any. */
  private record Known(Route route, @Nullable Line line) {}

  /** The topics of a destination that have messages, or had some lately; guarded by this. */
  private static final class Traffic {
    final LinkedHashSet<Integer> routes = new LinkedHashSet<>();
  }

  /** What one claim may take, for one destination; its room is set aside until {@link #done}. */
  record Load(Dispatcher dispatcher, Room room, List<Integer> routes) {
    void done() {
      dispatcher.unreserve(room);
    }
  }

  /** Reads the pauses again; returns whether something was resumed. */
  boolean refresh(Connection connection) throws SQLException {
    Set<String> now = new HashSet<>();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(pauses)) {
      while (row.next()) {
        now.add(row.getString(1) + " " + row.getString(2));
      }
    }
    boolean resumed = !now.containsAll(paused);
    paused = Set.copyOf(now);
    return resumed;
  }

  /** Looks which topics have messages; returns whether there are new ones among them. */
  boolean discover(Connection connection) throws SQLException {
    unknownRung = false;
    discoveredAtNanos = System.nanoTime();
    Set<Integer> found = new LinkedHashSet<>();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(queued)) {
      while (row.next()) {
        found.add(row.getInt(1));
      }
    }
    lookUp(connection, found);
    return merge(found);
  }

  private void lookUp(Connection connection, Set<Integer> ids) throws SQLException {
    Object[] unknown = ids.stream().filter(id -> !known.containsKey(id)).toArray();
    if (unknown.length == 0) {
      return;
    }
    try (PreparedStatement query = connection.prepareStatement(names)) {
      query.setArray(1, connection.createArrayOf("int4", unknown));
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          Route route = new Route(row.getString(2), row.getString(3));
          known.put(row.getInt(1), new Known(route, lineOf(route)));
        }
      }
    }
  }

  /** Topics without messages are forgotten when there are too many to look at all of them. */
  private synchronized boolean merge(Set<Integer> found) {
    boolean more = false;
    for (int id : found) {
      more |= activate(id);
    }
    for (Traffic each : traffic.values()) {
      if (each.routes.size() > ROUTES_PER_CLAIM) {
        each.routes.retainAll(found);
      }
    }
    return more;
  }

  private boolean activate(int id) {
    Known topic = known.get(id);
    Traffic of =
        topic == null || topic.line() == null ? null : traffic.get(topic.line().dispatcher());
    return of != null && of.routes.add(id);
  }

  /** A producer rang for a topic; returns whether that may be of interest here. */
  synchronized boolean rung(int id) {
    Known topic = known.get(id);
    if (topic == null) {
      unknownRung = true;
      return true;
    }
    activate(id);
    return topic.line() != null;
  }

  /** Somebody rang without saying for what. */
  void rungForAll() {
    unknownRung = true;
  }

  /** Whether somebody rang for a topic that was never met, or for all. */
  boolean unknownRung() {
    return unknownRung;
  }

  /** Whether the last look is some time ago; one costs little, but not nothing. */
  boolean discoveryDue() {
    return System.nanoTime() - discoveredAtNanos >= DISCOVER_EVERY.toNanos();
  }

  /**
   * What may be claimed now: one claim per destination with room to spare. Not one for all of them:
   * a key's messages for two destinations in one claim would be sent side by side, and a slow
   * destination's limits would be everyone's.
   *
   * @param leaving what the same transaction settles
   */
  synchronized List<Load> loads(int batchSize, int claims, Map<Dispatcher, Amount> leaving) {
    List<Load> loads = new ArrayList<>();
    traffic.forEach(
        (dispatcher, of) -> {
          List<Integer> open = open(dispatcher, of);
          Amount leaves = leaving.getOrDefault(dispatcher, Amount.NONE);
          Room room = open.isEmpty() ? null : dispatcher.reserve(batchSize, claims, leaves);
          if (room != null) {
            loads.add(new Load(dispatcher, room, turn(of, open)));
          }
        });
    return loads;
  }

  private List<Integer> open(Dispatcher dispatcher, Traffic of) {
    Set<String> now = paused;
    if (now.isEmpty()) {
      return List.copyOf(of.routes);
    }
    return now.contains("destination " + dispatcher.name())
        ? List.of()
        : of.routes.stream().filter(id -> !now.contains("topic " + name(id))).toList();
  }

  private static List<Integer> turn(Traffic of, List<Integer> open) {
    if (open.size() <= ROUTES_PER_CLAIM) {
      return open;
    }
    List<Integer> next = open.subList(0, ROUTES_PER_CLAIM);
    of.routes.removeAll(new HashSet<>(next));
    of.routes.addAll(next);
    return next;
  }

  /** Whether there is any topic that this relay may claim from. */
  synchronized boolean servesSomething() {
    return traffic.entrySet().stream().anyMatch(e -> !open(e.getKey(), e.getValue()).isEmpty());
  }

  Route name(int routeId) {
    Known topic = known.get(routeId);
    if (topic == null) {
      throw new PostriderException("claimed a message of the unknown route " + routeId);
    }
    return topic.route();
  }

  Line line(int routeId) {
    Known topic = known.get(routeId);
    Line line = topic == null ? null : topic.line();
    if (line == null) {
      throw new PostriderException("no line serves route " + routeId);
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
