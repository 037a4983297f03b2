package dev.postrider.relay;

import dev.postrider.internal.claim.FanOut;
import dev.postrider.internal.dispatch.Amount;
import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The topics with messages, matched with the routes of this relay. A topic is looked up when it is
 * first met: in the queue, or because a producer rang for it. So the cost follows the topics that
 * are active, not those that exist. Messages of a topic that no route serves, or that is paused,
 * stay where they are. Thread-safe.
 */
final class Routing {
  /** How many topics one claim looks at; with more of them claims take turns. */
  static final int ROUTES_PER_CLAIM = 64;

  /** Of these, so many are for topics that have only delayed or blocked messages. */
  private static final int IDLE_ROUTES_PER_CLAIM = ROUTES_PER_CLAIM / 4;

  private static final Duration DISCOVER_EVERY = Duration.ofMillis(20);

  /** A busy carrier spends at most this part of its time on the search for topics. */
  private static final int DISCOVER_SHARE = 10;

  private static final String QUEUED = "select route, ready from postrider.queued_routes()";
  private static final String NAMES =
      "select id, namespace, topic, subscription, topic_id, fans_out from postrider.route where id"
          + " = any (?)";
  private static final String PAUSES = "select kind, name from postrider.pause";

  private final List<RouteBinding> bindings;
  private final String queued;
  private final String names;
  private final String pauses;
  private final Map<Integer, Known> known = new ConcurrentHashMap<>();
  private final Map<Feed, Traffic> traffic = new LinkedHashMap<>();
  private final FanOutTurns toFanOut = new FanOutTurns();
  private volatile boolean topicsChanged;
  private volatile Set<String> paused = Set.of();
  private volatile long unknownRings;
  private volatile long discoveredRings;
  private volatile boolean metUnserved;
  private final LongSupplier clock;
  private volatile long discoveredAtNanos;
  private volatile long discoveryTookNanos;

  Routing(List<RouteBinding> bindings, Schema schema) {
    this(bindings, schema, System::nanoTime);
  }

  /**
   * @param clock nanoseconds, from any origin
   */
  Routing(List<RouteBinding> bindings, Schema schema, LongSupplier clock) {
    this.clock = clock;
    this.discoveredAtNanos = clock.getAsLong();
    this.bindings =
        bindings.stream().sorted(Comparator.comparingInt(RouteBinding::openness)).toList();
    this.queued = schema.sql(QUEUED);
    this.names = schema.sql(NAMES);
    this.pauses = schema.sql(PAUSES);
    for (RouteBinding binding : bindings) {
      traffic.computeIfAbsent(Feed.of(binding), d -> new Traffic());
    }
  }

  /**
   * A topic or a named subscription, and the binding that serves it, if any.
   *
   * @param topicId the topic of a named subscription, else 0
   * @param fansOut whether it is a topic with several subscriptions
   */
  private record Known(Route route, @Nullable RouteBinding binding, int topicId, boolean fansOut) {}

  /**
   * What one claim is for. Two subscriptions of a topic are never in one claim: it would have a
   * message twice.
   */
  record Feed(Dispatcher dispatcher, String subscription) {
    static Feed of(RouteBinding binding) {
      return new Feed(binding.dispatcher(), binding.subscription());
    }
  }

  /**
   * The topics of a destination that have messages, or had some lately. Guarded by this.
   *
   * <p>Ready are those with messages that can be claimed, with the time when that was last seen.
   */
  private static final class Traffic {
    final LinkedHashSet<Integer> routes = new LinkedHashSet<>();
    final Map<Integer, Long> ready = new HashMap<>();
  }

  /** Reads the pauses again; returns whether something was resumed. */
  boolean refresh(Connection connection) throws SQLException {
    if (topicsChanged) {
      topicsChanged = false;
      lookUpAgain(connection);
    }
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

  /** How long the last search for topics took. */
  Duration discoveryTook() {
    return Duration.ofNanos(discoveryTookNanos);
  }

  /** Looks which topics have messages; returns whether some of them became ready. */
  boolean discover(Connection connection) throws SQLException {
    long rings = unknownRings;
    long start = clock.getAsLong();
    Map<Integer, Boolean> found = new LinkedHashMap<>();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(queued)) {
      while (row.next()) {
        found.put(row.getInt(1), row.getBoolean(2));
      }
    }
    lookUp(connection, found.keySet());
    found.keySet().removeIf(this::noticeToFanOut);
    discoveredAtNanos = clock.getAsLong();
    discoveryTookNanos = discoveredAtNanos - start;
    boolean more = merge(found, start);
    discoveredRings = rings;
    return more;
  }

  /**
   * A negative number is that of a topic with messages that are not fanned out yet, or of a
   * subscription that catches up.
   */
  private boolean noticeToFanOut(int id) {
    Known topic = id < 0 ? known.get(-id) : null;
    if (topic != null && topic.topicId() == 0 && servesTopic(topic.route())) {
      if (!topic.fansOut()) {
        known.put(-id, new Known(topic.route(), topic.binding(), 0, true));
      }
      toFanOut.add(Set.of(-id));
    }
    return id < 0;
  }

  /** Subscriptions were added or removed; noticed with the next {@link #refresh}. */
  void topicsChanged() {
    topicsChanged = true;
  }

  /** Whether messages were met that are not fanned out yet. */
  boolean fanOutDue() {
    return toFanOut.due();
  }

  /** Fans messages out, so that they can be claimed. */
  void fanOut(Connection connection, FanOut fanOut) throws SQLException {
    List<Integer> topics = toFanOut.next();
    Set<Integer> of = Set.copyOf(topics);
    List<Integer> served =
        known.entrySet().stream()
            .filter(k -> of.contains(k.getKey()) || of.contains(k.getValue().topicId()))
            .filter(k -> k.getValue().binding() != null)
            .map(Map.Entry::getKey)
            .toList();
    List<Integer> again = topics;
    try {
      FanOut.Result result = fanOut.run(connection, topics, served);
      again = result.again();
      lookUp(connection, Set.copyOf(result.routes()));
      synchronized (this) {
        result.routes().forEach(id -> activate(id, true));
      }
    } finally {
      toFanOut.add(again);
    }
  }

  private boolean servesTopic(Route route) {
    return bindings.stream().anyMatch(binding -> binding.servesTopic(route));
  }

  private void lookUpAgain(Connection connection) throws SQLException {
    read(connection, known.keySet().toArray());
  }

  private void lookUp(Connection connection, Set<Integer> ids) throws SQLException {
    Object[] unknown = ids.stream().map(Math::abs).filter(id -> !known.containsKey(id)).toArray();
    if (unknown.length > 0) {
      read(connection, unknown);
    }
  }

  private void read(Connection connection, Object[] unknown) throws SQLException {
    try (PreparedStatement query = connection.prepareStatement(names)) {
      query.setArray(1, connection.createArrayOf("int4", unknown));
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          Route route = new Route(row.getString(2), row.getString(3), row.getString(4));
          @Nullable RouteBinding binding = lineOf(route);
          metUnserved |= binding == null;
          known.put(row.getInt(1), new Known(route, binding, row.getInt(5), row.getBoolean(6)));
        }
      }
    }
  }

  /** Topics without messages are forgotten when there are too many to look at all of them. */
  private synchronized boolean merge(Map<Integer, Boolean> found, long startNanos) {
    boolean more = false;
    for (Map.Entry<Integer, Boolean> topic : found.entrySet()) {
      more |= activate(topic.getKey(), topic.getValue());
    }
    for (Traffic each : traffic.values()) {
      if (each.routes.size() > ROUTES_PER_CLAIM) {
        each.routes.retainAll(found.keySet());
      }
      // A topic that rang after the start of the search stays ready.
      each.ready.values().removeIf(seenNanos -> seenNanos - startNanos < 0);
    }
    return more;
  }

  /** Returns whether the topic became ready. */
  private boolean activate(int id, boolean ready) {
    Known topic = known.get(id);
    Traffic of =
        topic == null || topic.binding() == null ? null : traffic.get(Feed.of(topic.binding()));
    if (of == null) {
      return false;
    }
    of.routes.add(id);
    return ready && of.ready.put(id, clock.getAsLong()) == null;
  }

  /** A producer rang for a topic; returns whether that may be of interest here. */
  synchronized boolean rung(int id) {
    Known topic = known.get(id);
    if (topic == null) {
      unknownRings++;
      return true;
    }
    if (topic.fansOut() && servesTopic(topic.route())) {
      toFanOut.add(Set.of(id));
      return true;
    }
    activate(id, true);
    return topic.binding() != null;
  }

  /** Whether the topic is known to have several subscriptions. */
  boolean fansOut(int id) {
    Known topic = known.get(id);
    return topic != null && topic.fansOut();
  }

  /** The same topics, and those of the named subscriptions among them. */
  Set<Integer> withTopics(Set<Integer> ids) {
    Set<Integer> all = new HashSet<>(ids);
    for (int id : ids) {
      Known topic = known.get(id);
      if (topic != null && topic.topicId() > 0) {
        all.add(topic.topicId());
      }
    }
    return all;
  }

  /** Whether a topic was met that no route serves. */
  boolean metUnserved() {
    return metUnserved;
  }

  /** A producer rang without a topic. */
  synchronized void rungForAll() {
    unknownRings++;
  }

  /**
   * Whether a producer rang for an unknown topic, or for all, since the start of the last completed
   * search. A search that another carrier has not finished does not count.
   */
  boolean unknownRung() {
    return unknownRings != discoveredRings;
  }

  /**
   * Whether the last search for topics is long enough ago. A search takes one index probe per topic
   * that has messages. It takes longer while an old snapshot keeps dead index entries.
   */
  boolean discoveryDue() {
    long pause = Math.max(DISCOVER_EVERY.toNanos(), DISCOVER_SHARE * discoveryTookNanos);
    return clock.getAsLong() - discoveredAtNanos >= pause;
  }

  /**
   * What may be claimed now: one claim per destination and subscription with room to spare. Not one
   * for all of them: a key's messages for two destinations in one claim would be sent side by side,
   * and a slow destination's limits would be everyone's. The first one may take all the room of a
   * destination, so it is the one that was served longest ago.
   *
   * @param leaving what the same transaction settles
   * @param wanted whom to ask for
   */
  synchronized Loads loads(
      int batchSize, int claims, Map<Dispatcher, Amount> leaving, Predicate<Feed> wanted) {
    List<Load> due = new ArrayList<>();
    Set<Feed> leftOut = new HashSet<>();
    traffic.forEach(
        (feed, of) -> {
          Dispatcher dispatcher = feed.dispatcher();
          List<Integer> open = wanted.test(feed) ? open(dispatcher, of) : List.of();
          Load.Limits limits =
              new Load.Limits(batchSize, claims, leaving.getOrDefault(dispatcher, Amount.NONE));
          if (!open.isEmpty() && limits.leaveRoom(dispatcher)) {
            due.add(load(feed, limits, of, open));
          } else if (!open.isEmpty()) {
            leftOut.add(feed);
          }
        });
    return new Loads(due, leftOut);
  }

  /**
   * The next claims.
   *
   * @param leftOut those without room; they are to be asked when there is some
   */
  record Loads(List<Load> due, Set<Feed> leftOut) {
    static final Loads NONE = new Loads(List.of(), Set.of());
  }

  /** A claim took something for this feed: those that share its destination come first now. */
  synchronized void served(Feed feed) {
    Traffic of = traffic.remove(feed);
    if (of != null) {
      traffic.put(feed, of);
    }
  }

  private List<Integer> open(Dispatcher dispatcher, Traffic of) {
    Set<String> now = paused;
    if (now.isEmpty()) {
      return List.copyOf(of.routes);
    }
    return now.contains("destination " + dispatcher.name())
        ? List.of()
        : of.routes.stream().filter(id -> !paused(name(id), now)).toList();
  }

  private static boolean paused(Route route, Set<String> now) {
    Route topic = route.withoutSubscription();
    String name = route.subscription().isEmpty() ? "default" : route.subscription();
    return now.contains("topic " + topic) || now.contains("subscription " + topic + "#" + name);
  }

  /**
   * Of too many topics it takes the next few, those that are ready first; the others get a part.
   */
  private static Load load(Feed feed, Load.Limits limits, Traffic of, List<Integer> open) {
    if (open.size() <= ROUTES_PER_CLAIM) {
      return new Load(feed, limits, open, false);
    }
    List<Integer> ready = open.stream().filter(of.ready::containsKey).toList();
    int idle = Math.min(open.size() - ready.size(), IDLE_ROUTES_PER_CLAIM);
    int most = Math.min(ready.size(), ROUTES_PER_CLAIM - idle);
    List<Integer> next = new ArrayList<>(ready.subList(0, most));
    open.stream()
        .filter(id -> !of.ready.containsKey(id))
        .limit(ROUTES_PER_CLAIM - most)
        .forEach(next::add);
    of.routes.removeAll(new HashSet<>(next));
    of.routes.addAll(next);
    return new Load(feed, limits, next, most < ready.size());
  }

  /** Whether there is any topic that this relay may claim from. */
  synchronized boolean servesSomething() {
    return traffic.entrySet().stream()
        .anyMatch(e -> !open(e.getKey().dispatcher(), e.getValue()).isEmpty());
  }

  /** The topic with this number; null if it was never met. */
  @Nullable Route known(int routeId) {
    Known topic = known.get(routeId);
    return topic == null ? null : topic.route();
  }

  Route name(int routeId) {
    Known topic = known.get(routeId);
    if (topic == null) {
      throw new PostriderException("claimed a message of the unknown route " + routeId);
    }
    return topic.route();
  }

  RouteBinding binding(int routeId) {
    Known topic = known.get(routeId);
    RouteBinding binding = topic == null ? null : topic.binding();
    if (binding == null) {
      throw new PostriderException("no route serves route " + routeId);
    }
    return binding;
  }

  private @Nullable RouteBinding lineOf(Route route) {
    for (RouteBinding binding : bindings) {
      if (binding.serves(route)) {
        return binding;
      }
    }
    return null;
  }
}
