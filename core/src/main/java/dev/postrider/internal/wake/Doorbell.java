package dev.postrider.internal.wake;

import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;

/**
 * The flags that make producers ring. A relay raises them, looks once more, then sleeps; one that
 * is busy with some topics lowers theirs, because a NOTIFY in every transaction would serialise all
 * commits. A lost ring costs one poll interval, never a message. Thread-safe; the connection is the
 * caller's.
 */
public final class Doorbell {
  private final String arm;
  private final String disarm;

  public Doorbell(Schema schema) {
    // Losing a flag in a crash costs a poll interval: not worth waiting for the disk.
    this.arm = schema.sql("set local synchronous_commit = off; select postrider.arm_doorbell()");
    this.disarm = schema.sql("select postrider.disarm_doorbell(?)");
  }

  public void arm(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(arm);
    }
  }

  public void disarm(Connection connection, Collection<Integer> routes) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(disarm)) {
      call.setArray(1, connection.createArrayOf("int4", routes.toArray()));
      call.execute();
    }
  }
}
