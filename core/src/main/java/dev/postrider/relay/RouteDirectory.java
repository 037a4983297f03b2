package dev.postrider.relay;

import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The topics and named subscriptions that this relay has met, by their numbers in the database,
 * each with the binding that serves it. A number is looked up when it is first met. Thread-safe.
 */
final class RouteDirectory {
  private static final String NAMES =
      "select id, namespace, topic, subscription, topic_id, fans_out from postrider.route where id"
          + " = any (?)";

  private final List<RouteBinding> bindings;
  private final String names;
  private final Map<Integer, Entry> entries = new ConcurrentHashMap<>();
  private volatile boolean metUnserved;

  RouteDirectory(List<RouteBinding> bindings, Schema schema) {
    this.bindings =
        bindings.stream().sorted(Comparator.comparingInt(RouteBinding::openness)).toList();
    this.names = schema.sql(NAMES);
  }

  /**
   * A topic or a named subscription, and the binding that serves it, if any.
   *
   * @param topicId the topic of a named subscription, else 0
   * @param fansOut whether it is a topic with several subscriptions
   */
  record Entry(Route route, @Nullable RouteBinding binding, int topicId, boolean fansOut) {
    boolean isTopic() {
      return topicId == 0;
    }
  }

  /** Null if the number was never met. */
  @Nullable Entry find(int id) {
    return entries.get(id);
  }

  Route route(int id) {
    Entry entry = entries.get(id);
    if (entry == null) {
      throw new PostriderException("claimed a message of the unknown route " + id);
    }
    return entry.route();
  }

  RouteBinding binding(int id) {
    Entry entry = entries.get(id);
    RouteBinding binding = entry == null ? null : entry.binding();
    if (binding == null) {
      throw new PostriderException("no route serves route " + id);
    }
    return binding;
  }

  /** Whether a binding serves a subscription of the topic. */
  boolean servesTopic(Route topic) {
    return bindings.stream().anyMatch(binding -> binding.servesTopic(topic));
  }

  /** The served ones among these topics and their named subscriptions. */
  List<Integer> served(Collection<Integer> topics) {
    Set<Integer> of = Set.copyOf(topics);
    return entries.entrySet().stream()
        .filter(e -> of.contains(e.getKey()) || of.contains(e.getValue().topicId()))
        .filter(e -> e.getValue().binding() != null)
        .map(Map.Entry::getKey)
        .toList();
  }

  /** The same numbers, and the topics of the named subscriptions among them. */
  Set<Integer> withTopics(Set<Integer> ids) {
    Set<Integer> all = new HashSet<>(ids);
    for (int id : ids) {
      Entry entry = entries.get(id);
      if (entry != null && !entry.isTopic()) {
        all.add(entry.topicId());
      }
    }
    return all;
  }

  /** The topic has several subscriptions, as its messages show. */
  void fansOut(int topicId) {
    entries.computeIfPresent(
        topicId, (id, entry) -> new Entry(entry.route(), entry.binding(), entry.topicId(), true));
  }

  /** Whether a topic was met that no binding serves. */
  boolean metUnserved() {
    return metUnserved;
  }

  /** Reads the numbers that are new. Those of topics to fan out are negative. */
  void lookUp(Connection connection, Collection<Integer> ids) throws SQLException {
    Object[] unknown = ids.stream().map(Math::abs).filter(id -> !entries.containsKey(id)).toArray();
    if (unknown.length > 0) {
      read(connection, unknown);
    }
  }

  /** Reads all of them again. */
  void refresh(Connection connection) throws SQLException {
    read(connection, entries.keySet().toArray());
  }

  private void read(Connection connection, Object[] ids) throws SQLException {
    try (PreparedStatement query = connection.prepareStatement(names)) {
      query.setArray(1, connection.createArrayOf("int4", ids));
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          Route route = new Route(row.getString(2), row.getString(3), row.getString(4));
          @Nullable RouteBinding binding = bindingOf(route);
          metUnserved |= binding == null;
          entries.put(row.getInt(1), new Entry(route, binding, row.getInt(5), row.getBoolean(6)));
        }
      }
    }
  }

  private @Nullable RouteBinding bindingOf(Route route) {
    for (RouteBinding binding : bindings) {
      if (binding.serves(route)) {
        return binding;
      }
    }
    return null;
  }
}
