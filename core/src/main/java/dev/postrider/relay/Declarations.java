package dev.postrider.relay;

import dev.postrider.error.DatabaseError;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Adds the subscriptions of a relay's configuration to their topics, each once. A relay adds and
 * never removes, so relays with different configurations have the union. One thread.
 */
final class Declarations {
  private final String add;
  private final String actor;
  private final Set<RouteBinding> open;

  Declarations(List<RouteBinding> bindings, String relay, Schema schema) {
    this.add = schema.sql("select postrider.subscription_add(?, ?, ?, ?)");
    this.actor = "relay " + relay;
    this.open =
        new LinkedHashSet<>(
            bindings.stream().filter(binding -> !binding.subscription().isEmpty()).toList());
  }

  /**
   * Adds those that are not known to be there. One that is refused does not stop the others; it
   * fails at the end. It fails at once while a producer's transaction is open long: the others
   * would wait for that, too.
   */
  void update(Connection connection) throws SQLException {
    @Nullable SQLException refused = null;
    for (RouteBinding binding : List.copyOf(open)) {
      try {
        add(connection, binding);
        open.remove(binding);
      } catch (SQLException e) {
        if (DatabaseError.of(e) != DatabaseError.FATAL) {
          throw e;
        }
        refused = refused == null ? e : refused;
      }
    }
    if (refused != null) {
      throw refused;
    }
  }

  private void add(Connection connection, RouteBinding binding) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(add)) {
      call.setString(1, actor);
      call.setString(2, binding.namespace());
      call.setString(3, binding.topic());
      call.setString(4, binding.subscription());
      call.execute();
    }
  }
}
