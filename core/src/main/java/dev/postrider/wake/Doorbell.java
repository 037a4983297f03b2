package dev.postrider.wake;

import dev.postrider.store.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The flag that makes producers ring. A relay raises it, looks once more, then sleeps; a busy one
 * lowers it, because a NOTIFY in every transaction would serialise all commits. A lost ring costs
 * one poll interval, never a message. Thread-safe; the connection is the caller's.
 */
public final class Doorbell {
  private final String arm;
  private final String disarm;

  public Doorbell(Schema schema) {
    // Losing the flag in a crash costs a poll interval: not worth waiting for the disk.
    this.arm = schema.sql("set local synchronous_commit = off; select postrider.arm_doorbell()");
    this.disarm =
        schema.sql("set local synchronous_commit = off; select postrider.disarm_doorbell()");
  }

  /** Returns whether the flag was up already; if not, look once more before sleeping. */
  public boolean arm(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(arm);
      statement.getMoreResults();
      try (ResultSet row = statement.getResultSet()) {
        row.next();
        return row.getBoolean(1);
      }
    }
  }

  public void disarm(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(disarm);
    }
  }
}
