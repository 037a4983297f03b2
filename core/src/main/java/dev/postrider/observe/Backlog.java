package dev.postrider.observe;

import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What waits in the database at one moment, read without scanning a big table: exact up to 10,000
 * messages, estimated from the server's statistics beyond. Immutable.
 *
 * @param topics those with pending or dead messages
 * @param processing messages under a lease
 * @param stuck those of them whose lease is over, and that nobody has given back yet
 * @param blockedKeys keys that wait for an operator behind a dead message, counted up to 10,000
 * @param blockedKeysAtLeast whether there are more than that
 */
public record Backlog(
    List<Topic> topics, long processing, long stuck, long blockedKeys, boolean blockedKeysAtLeast) {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final String TOPICS =
      """
      select namespace, topic, pending, estimated, oldest_age_seconds, dead, dead_estimated, subscription
        from postrider.backlog()
      """;
  private static final String DISPATCHING =
      "select processing, stuck, blocked_keys, blocked_keys_at_least from postrider.dispatching()";

  /**
   * The share of one topic, or of one of its named subscriptions.
   *
   * @param pending messages neither delivered, dead nor under a lease, scheduled ones included
   * @param estimated whether {@code pending} is an estimate
   * @param oldestAge how long the oldest message that is due has been waiting; zero without one
   * @param dead messages that are dead and not resolved by an operator
   */
  public record Topic(
      Route route,
      long pending,
      boolean estimated,
      Duration oldestAge,
      long dead,
      boolean deadEstimated) {}

  public Backlog {
    topics = List.copyOf(topics);
  }

  public long pending() {
    return topics.stream().mapToLong(Topic::pending).sum();
  }

  public boolean pendingEstimated() {
    return topics.stream().anyMatch(Topic::estimated);
  }

  public Duration oldestAge() {
    return topics.stream().map(Topic::oldestAge).reduce(Duration.ZERO, Backlog::longer);
  }

  public long dead() {
    return topics.stream().mapToLong(Topic::dead).sum();
  }

  public boolean deadEstimated() {
    return topics.stream().anyMatch(Topic::deadEstimated);
  }

  private static Duration longer(Duration a, Duration b) {
    return a.compareTo(b) >= 0 ? a : b;
  }

  /** Reads the backlog of the default schema; see {@link #read(Connection, Schema)}. */
  public static Backlog read(Connection connection) throws SQLException {
    return read(connection, Schema.DEFAULT);
  }

  /**
   * Reads the backlog in a transaction of its own, which gives up after two seconds.
   *
   * @param connection one in auto-commit mode
   */
  public static Backlog read(Connection connection, Schema schema) throws SQLException {
    if (!connection.getAutoCommit()) {
      throw new PostriderException(
          "the backlog is read in a transaction of its own, but the connection is in one already;"
              + " commit it and call setAutoCommit(true), or give another connection");
    }
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.execute("set local statement_timeout = " + TIMEOUT.toMillis());
      Backlog backlog = read(statement, schema);
      leave(connection);
      return backlog;
    } catch (SQLException e) {
      try {
        leave(connection);
      } catch (SQLException lost) {
        e.addSuppressed(lost);
      }
      throw e;
    }
  }

  private static void leave(Connection connection) throws SQLException {
    connection.rollback();
    connection.setAutoCommit(true);
  }

  private static Backlog read(Statement statement, Schema schema) throws SQLException {
    List<Topic> topics = new ArrayList<>();
    try (ResultSet row = statement.executeQuery(schema.sql(TOPICS))) {
      while (row.next()) {
        topics.add(
            new Topic(
                new Route(row.getString(1), row.getString(2), row.getString(8)),
                row.getLong(3),
                row.getBoolean(4),
                Duration.ofMillis(Math.round(row.getDouble(5) * 1000)),
                row.getLong(6),
                row.getBoolean(7)));
      }
    }
    try (ResultSet row = statement.executeQuery(schema.sql(DISPATCHING))) {
      row.next();
      return new Backlog(topics, row.getLong(1), row.getLong(2), row.getLong(3), row.getBoolean(4));
    }
  }
}
