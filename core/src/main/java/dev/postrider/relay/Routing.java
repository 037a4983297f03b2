package dev.postrider.relay;

import dev.postrider.internal.claim.FanOut;
import dev.postrider.internal.dispatch.Amount;
import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The topics with messages, matched with the routes of this relay. A topic is looked up when it is
 * first met: in the queue, or because a producer rang for it. So the cost follows the topics that
 * are active, not those that exist. Messages of a topic that no route serves, or that is paused,
 * stay where they are. Thread-safe.
 */
final class Routing {
  private static final Duration DISCOVER_EVERY = Duration.ofMillis(20);

  /** A busy carrier spends at most this part of its time on the search for topics. */
  private static final int DISCOVER_SHARE = 10;

  private static final String QUEUED = "select route, ready from postrider.queued_routes()";

  private final RouteDirectory directory;
  private final KnownPauses pauses;
  private final String queued;
  private final LongSupplier clock;
  private final Map<Feed, ActiveTopics> traffic = new LinkedHashMap<>();
  private final FanOutTurns toFanOut = new FanOutTurns();
  private volatile boolean topicsChanged;
  private volatile long unknownRings;
  private volatile long discoveredRings;
  private volatile long discoveredAtNanos;
  private volatile long discoveryTookNanos;

  Routing(List<RouteBinding> bindings, Schema schema) {
    this(bindings, schema, System::nanoTime);
  }

  /**
   * @param clock nanoseconds, from any origin
   */
  Routing(List<RouteBinding> bindings, Schema schema, LongSupplier clock) {
    this.directory = new RouteDirectory(bindings, schema);
    this.pauses = new KnownPauses(schema);
    this.queued = schema.sql(QUEUED);
    this.clock = clock;
    this.discoveredAtNanos = clock.getAsLong();
    for (RouteBinding binding : bindings) {
      traffic.computeIfAbsent(Feed.of(binding), feed -> new ActiveTopics());
    }
  }

  /**
   * What one claim is for. Two subscriptions of a topic are never in one claim: it would have a
   * message twice.
   */
  record Feed(Dispatcher dispatcher, String subscription) {
    static Feed of(RouteBinding binding) {
      return new Feed(binding.dispatcher(), binding.subscription());
    }
  }

  /** The topics that were met. */
  RouteDirectory directory() {
    return directory;
  }

  /** Reads the pauses again; returns whether something was resumed. */
  boolean refresh(Connection connection) throws SQLException {
    if (topicsChanged) {
      topicsChanged = false;
      directory.refresh(connection);
    }
    return pauses.refresh(connection);
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
    directory.lookUp(connection, found.keySet());
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
    RouteDirectory.Entry topic = id < 0 ? directory.find(-id) : null;
    if (topic != null && topic.isTopic() && directory.servesTopic(topic.route())) {
      directory.fansOut(-id);
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

  /** Fans messages out, so that they can be claimed; returns whether there were any. */
  boolean fanOut(Connection connection, FanOut fanOut) throws SQLException {
    List<Integer> topics = toFanOut.next();
    List<Integer> again = topics;
    try {
      FanOut.Result result = fanOut.run(connection, topics, directory.served(topics));
      again = result.again();
      directory.lookUp(connection, result.routes());
      synchronized (this) {
        result.routes().forEach(id -> activate(id, true));
      }
      return !result.routes().isEmpty();
    } finally {
      toFanOut.add(again);
    }
  }

  private synchronized boolean merge(Map<Integer, Boolean> found, long startNanos) {
    boolean more = false;
    for (Map.Entry<Integer, Boolean> topic : found.entrySet()) {
      more |= activate(topic.getKey(), topic.getValue());
    }
    traffic.values().forEach(each -> each.searched(found.keySet(), startNanos));
    return more;
  }

  /** Returns whether the topic became ready. */
  private boolean activate(int id, boolean ready) {
    RouteDirectory.Entry topic = directory.find(id);
    ActiveTopics of =
        topic == null || topic.binding() == null ? null : traffic.get(Feed.of(topic.binding()));
    return of != null && of.add(id, ready, clock.getAsLong());
  }

  /** A producer rang for a topic; returns whether that may be of interest here. */
  synchronized boolean rung(int id) {
    RouteDirectory.Entry topic = directory.find(id);
    if (topic == null) {
      unknownRings++;
      return true;
    }
    if (topic.fansOut() && directory.servesTopic(topic.route())) {
      toFanOut.add(Set.of(id));
      return true;
    }
    activate(id, true);
    return topic.binding() != null;
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
            due.add(new Load(feed, limits, of.next(open)));
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
    ActiveTopics of = traffic.remove(feed);
    if (of != null) {
      traffic.put(feed, of);
    }
  }

  private List<Integer> open(Dispatcher dispatcher, ActiveTopics of) {
    return pauses.destination(dispatcher.name())
        ? List.of()
        : of.open(pauses.none() ? id -> false : id -> pauses.route(directory.route(id)));
  }

  /** Whether there is any topic that this relay may claim from. */
  synchronized boolean servesSomething() {
    return traffic.entrySet().stream()
        .anyMatch(e -> !open(e.getKey().dispatcher(), e.getValue()).isEmpty());
  }
}
