package dev.postrider.relay;

import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Set;

/** What operators have paused, as last read. Thread-safe. */
final class KnownPauses {
  private static final String PAUSES = "select kind, name from postrider.pause";

  private final String query;
  private volatile Set<String> paused = Set.of();

  KnownPauses(Schema schema) {
    this.query = schema.sql(PAUSES);
  }

  /** Reads them again; returns whether something was resumed. */
  boolean refresh(Connection connection) throws SQLException {
    Set<String> now = new HashSet<>();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      while (row.next()) {
        now.add(row.getString(1) + " " + row.getString(2));
      }
    }
    boolean resumed = !now.containsAll(paused);
    paused = Set.copyOf(now);
    return resumed;
  }

  boolean none() {
    return paused.isEmpty();
  }

  boolean destination(String name) {
    return paused.contains("destination " + name);
  }

  /** Whether the subscription is paused, or its topic. */
  boolean route(Route route) {
    Set<String> now = paused;
    Route topic = route.withoutSubscription();
    String name = route.subscription().isEmpty() ? "default" : route.subscription();
    return now.contains("topic " + topic) || now.contains("subscription " + topic + "#" + name);
  }
}
