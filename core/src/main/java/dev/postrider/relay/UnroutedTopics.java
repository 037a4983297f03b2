package dev.postrider.relay;

import dev.postrider.internal.text.LogLine;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs topics with messages that no living relay has a route for, each once. One thread. */
final class UnroutedTopics {
  private static final Logger log = LoggerFactory.getLogger(UnroutedTopics.class);

  /** More topics than this are not logged by one relay. */
  static final int LINES_MAX = 100;

  private final RouteDirectory directory;
  private final String query;
  private final Set<Route> logged = new HashSet<>();

  UnroutedTopics(RouteDirectory directory, Schema schema) {
    this.directory = directory;
    this.query =
        schema.sql("select namespace, topic, subscription from postrider.unrouted_topics()");
  }

  /** Asks the database only if this relay has met a topic that it has no route for. */
  void look(Connection connection) throws SQLException {
    if (!directory.metUnserved() || logged.size() >= LINES_MAX) {
      return;
    }
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      while (row.next() && logged.size() < LINES_MAX) {
        log(new Route(row.getString(1), row.getString(2), row.getString(3)));
      }
    }
  }

  private void log(Route route) {
    if (logged.add(route)) {
      log.warn(
          "{}",
          LogLine.of("outbox_topic_unrouted")
              .put("namespace", route.namespace())
              .put("topic", route.topic())
              .put("subscription", route.subscription())
              .put("reason", "no living relay has a route for it, so its messages wait"));
    }
  }
}
