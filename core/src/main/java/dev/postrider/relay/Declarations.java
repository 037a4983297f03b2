package dev.postrider.relay;

import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

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
   * Adds those that are not known to be there. Fails while a producer's transaction is open long.
   */
  void update(Connection connection) throws SQLException {
    for (RouteBinding binding : List.copyOf(open)) {
      try (PreparedStatement call = connection.prepareStatement(add)) {
        call.setString(1, actor);
        call.setString(2, binding.namespace());
        call.setString(3, binding.topic());
        call.setString(4, binding.subscription());
        call.execute();
      }
      open.remove(binding);
    }
  }
}
