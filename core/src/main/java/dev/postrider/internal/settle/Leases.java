package dev.postrider.internal.settle;

import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;

/** Renews leases and gives back those of the dead. Thread-safe; the connection is the caller's. */
public final class Leases {
  private final String workerId;
  private final String renew;
  private final String reap;
  private final String forget;
  private final String seen;
  private final String stopped;

  public Leases(Schema schema) {
    this.workerId = schema.sql("select postrider.worker_id(?, ?)");
    this.renew = schema.sql("select postrider.renew(?, ?)");
    this.reap = schema.sql("select reaped, lowest from postrider.reap_from(?)");
    this.forget = schema.sql("select postrider.forget_leases(?, ?)");
    this.seen = schema.sql("select postrider.workers_seen(?)");
    this.stopped = schema.sql("select postrider.worker_stopped(?)");
  }

  /** The number by which the database knows this instance of a worker. */
  public int worker(Connection connection, String name, String instance) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(workerId)) {
      call.setString(1, name);
      call.setString(2, instance);
      return number(call);
    }
  }

  /** Extends a lease; false if it is not held any more. */
  public boolean renew(Connection connection, long token, Duration lease) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(renew)) {
      call.setLong(1, token);
      call.setLong(2, lease.toMillis());
      try (ResultSet row = call.executeQuery()) {
        row.next();
        return row.getBoolean(1);
      }
    }
  }

  /**
   * Puts the work of lapsed leases back in the queue.
   *
   * @param from the lowest token to look at
   */
  public Reaped reap(Connection connection, long from) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(reap)) {
      call.setLong(1, from);
      try (ResultSet row = call.executeQuery()) {
        row.next();
        return new Reaped(row.getInt(1), row.getLong(2));
      }
    }
  }

  /**
   * What a reaper did.
   *
   * @param messages that are back in the queue
   * @param lowest the lowest token of a lease that is left, 0 if there is none
   */
  public record Reaped(int messages, long lowest) {}

  /**
   * Lets go of this worker's leases other than the known ones: claims whose answer was lost with
   * their connection. Returns how many.
   */
  public int forgetOthers(Connection connection, int worker, Collection<Long> known)
      throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(forget)) {
      call.setInt(1, worker);
      call.setArray(2, connection.createArrayOf("int8", known.toArray()));
      return number(call);
    }
  }

  /** Notes that these workers are alive. */
  public void seen(Connection connection, Collection<Integer> workers) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(seen)) {
      call.setArray(1, connection.createArrayOf("int4", workers.toArray()));
      call.execute();
    }
  }

  /** Notes that a worker ended in an orderly way. */
  public void stopped(Connection connection, int worker) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(stopped)) {
      call.setInt(1, worker);
      call.execute();
    }
  }

  private static int number(PreparedStatement call) throws SQLException {
    try (ResultSet row = call.executeQuery()) {
      row.next();
      return row.getInt(1);
    }
  }
}
