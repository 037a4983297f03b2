package dev.postrider.internal.retention;

import dev.postrider.internal.text.LogLine;
import dev.postrider.message.PostriderException;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
      "select name, created, note from postrider.ensure_partitions(?, array[?])";

  private static final List<String> PARENTS = List.of("message", "attempt");

  /** The default partition, the days themselves, and a last look. */
  private static final int ROUNDS_MAX = 3;

  private final String ensure;

  public Partitions(Schema schema) {
    this.ensure = schema.sql(ENSURE);
  }

  /**
   * Makes what is missing from today to so many days ahead (0 to 366) and returns the names of what
   * was made. Locks are held until the transaction ends. So leave the connection in auto-commit
   * mode: then each of the two tables gets a separate transaction. A default partition that has
   * grown large is retired first if that takes no longer than a second. What cannot be made now is
   * logged as {@code outbox_partition_missing} and left to the next call.
   */
  public List<String> ensure(Connection connection, int daysAhead) throws SQLException {
    if (daysAhead < 0 || daysAhead > 366) {
      throw new PostriderException("days ahead must lie between 0 and 366, was " + daysAhead);
    }
    List<String> all = new ArrayList<>();
    Map<String, String> missing = new LinkedHashMap<>();
    for (String parent : PARENTS) {
      ensure(connection, daysAhead, parent, all, missing);
    }
    missing.forEach(
        (name, note) ->
            LOG.warn(
                "{}",
                LogLine.of("outbox_partition_missing").put("partition", name).put("reason", note)));
    return all;
  }

  /** A call that retires a default partition leaves the rest to the next one. */
  private void ensure(
      Connection connection,
      int daysAhead,
      String parent,
      List<String> all,
      Map<String, String> missing)
      throws SQLException {
    Map<String, String> left = new LinkedHashMap<>();
    for (int round = 0; round < ROUNDS_MAX; round++) {
      left.clear();
      List<String> created = ensure(connection, daysAhead, parent, left);
      all.addAll(created);
      if (created.isEmpty()) {
        break;
      }
    }
    missing.putAll(left);
  }

  private List<String> ensure(
      Connection connection, int daysAhead, String parent, Map<String, String> missing)
      throws SQLException {
    List<String> created = new ArrayList<>();
    try (PreparedStatement call = connection.prepareStatement(ensure)) {
      call.setInt(1, daysAhead);
      call.setString(2, parent);
      try (ResultSet rows = call.executeQuery()) {
        while (rows.next()) {
          if (rows.getBoolean("created")) {
            created.add(rows.getString("name"));
          } else {
            missing.put(rows.getString("name"), rows.getString("note"));
          }
        }
      }
    }
    return created;
  }
}
