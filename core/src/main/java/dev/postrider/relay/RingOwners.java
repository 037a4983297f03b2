package dev.postrider.relay;

import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides which relays answer the ring for a topic at once. All relays of a topic hear its rings,
 * and one claim is enough. Each topic has two owners among the living relays that serve it, so that
 * one may be busy or gone. The other relays look a little later. Every relay computes the owners
 * from what the relays recorded in the database. Thread-safe.
 */
final class RingOwners {
  static final int OWNERS = 2;

  private static final String OTHERS =
      "select instance, namespace, topic, subscription from postrider.ring_owners(?)";

  private final String instance;
  private final String query;
  private volatile Map<String, List<Served>> others = Map.of();

  /** A route of another living relay. */
  private record Served(String namespace, String topic, String subscription) {
    /** A ring for a topic that fans out is answered by all who serve one of its subscriptions. */
    boolean serves(Route route, boolean fansOut) {
      return (fansOut || subscription.equals(route.subscription()))
          && (namespace.equals(RouteBinding.ANY) || namespace.equals(route.namespace()))
          && (topic.equals(RouteBinding.ANY) || topic.equals(route.topic()));
    }
  }

  RingOwners(String instance, Schema schema) {
    this.instance = instance;
    this.query = schema.sql(OTHERS);
  }

  /** Reads again which relays live and what they serve. */
  void refresh(Connection connection) throws SQLException {
    Map<String, List<Served>> found = new HashMap<>();
    try (PreparedStatement select = connection.prepareStatement(query)) {
      select.setString(1, instance);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          found
              .computeIfAbsent(row.getString(1), relay -> new ArrayList<>())
              .add(new Served(row.getString(2), row.getString(3), row.getString(4)));
        }
      }
    }
    others = found;
  }

  /** Whether this relay answers rings for the topic at once. */
  boolean owns(Route route, boolean fansOut) {
    long mine = weight(instance, route);
    int before = 0;
    for (Map.Entry<String, List<Served>> other : others.entrySet()) {
      if (weight(other.getKey(), route) > mine
          && other.getValue().stream().anyMatch(served -> served.serves(route, fansOut))
          && ++before == OWNERS) {
        return false;
      }
    }
    return true;
  }

  /**
   * The relays with the highest weights own a topic, so topics are spread over the relays. The hash
   * of a string is the same in every Java version.
   */
  private static long weight(String instance, Route route) {
    long mixed = (instance + " " + route).hashCode() * 0x9E3779B97F4A7C15L;
    return mixed ^ (mixed >>> 32);
  }
}
