package dev.postrider.internal.claim;

import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;

/**
 * Makes one queue row for each subscription of a message. Thread-safe; the connection is the
 * caller's.
 */
public final class FanOut {
  /** How many rows one call writes, about. */
  private static final int ROWS = 8_000;

  private final String fanOut;

  public FanOut(Schema schema) {
    this.fanOut = schema.sql("select routes, again from postrider.fan_out(?, ?, ?)");
  }

  /**
   * What a call did.
   *
   * @param routes those that got messages
   * @param again topics that may have more messages, or that another relay was fanning out
   */
  public record Result(List<Integer> routes, List<Integer> again) {}

  /**
   * Fans the next messages of these topics out.
   *
   * @param served routes that the caller claims from, so that no other relay is woken for them
   */
  public Result run(Connection connection, Collection<Integer> topics, Collection<Integer> served)
      throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(fanOut)) {
      call.setArray(1, connection.createArrayOf("int4", topics.toArray()));
      call.setInt(2, ROWS);
      call.setArray(3, connection.createArrayOf("int4", served.toArray()));
      try (ResultSet row = call.executeQuery()) {
        row.next();
        return new Result(
            List.of((Integer[]) row.getArray(1).getArray()),
            List.of((Integer[]) row.getArray(2).getArray()));
      }
    }
  }
}
