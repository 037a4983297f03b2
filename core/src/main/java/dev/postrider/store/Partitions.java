package dev.postrider.store;

import dev.postrider.message.PostriderException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Daily partitions of messages and attempts, made ahead of time so that old days can be dropped
 * whole. Call it once after a migration and then every hour or so; a day without a partition fails
 * nothing, its rows go to the default partition. Thread-safe; the connection is the caller's.
 */
public final class Partitions {
  private static final Logger LOG = LoggerFactory.getLogger(Partitions.class);
  private static final String ENSURE =
      "select name, created, note from postrider.ensure_partitions(?)";

  private final String ensure;

  public Partitions(Schema schema) {
    this.ensure = schema.sql(ENSURE);
  }

  /**
   * Makes what is missing from today to so many days ahead (0 to 366) and returns the names of what
   * was made. Locks are held until the transaction ends, so it should have one of its own. What
   * cannot be made now, since a table is in use, is logged and left to the next call.
   */
  public List<String> ensure(Connection connection, int daysAhead) throws SQLException {
    if (daysAhead < 0 || daysAhead > 366) {
      throw new PostriderException("days ahead must lie between 0 and 366, was " + daysAhead);
    }
    List<String> created = new ArrayList<>();
    try (PreparedStatement call = connection.prepareStatement(ensure)) {
      call.setInt(1, daysAhead);
      try (ResultSet rows = call.executeQuery()) {
        while (rows.next()) {
          if (rows.getBoolean("created")) {
            created.add(rows.getString("name"));
          } else {
            LOG.warn("partition {} not made: {}", rows.getString("name"), rows.getString("note"));
          }
        }
      }
    }
    return created;
  }
}
