package dev.postrider.operations;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions of topics. A topic that is not listed has one, without a name. Thread-safe if
 * the data source is.
 */
public final class Subscriptions {
  private static final String LIST =
      """
      select s.namespace, s.topic, s.name, s.active, s.catching_up, s.created_at,
             postrider.subscription_pending(s.namespace, s.topic, s.name) as pending
        from postrider.subscription s order by s.namespace, s.topic, s.name limit 1000
      """;
  private static final String ADD = "select postrider.subscription_add(?, ?, ?, ?)";
  private static final String ADD_FROM = "select postrider.subscription_add_from(?, ?, ?, ?, ?)";
  private static final String REMOVE = "select postrider.subscription_remove(?, ?, ?, ?)";

  /** More messages are not counted: this many means this many or more. */
  public static final int PENDING_MOST = 10_001;

  private final Database database;

  /**
   * A subscription. Immutable.
   *
   * @param active false if it was removed: it gets no new messages
   * @param catchingUp whether it still gets messages from before it was added
   * @param pending messages that wait for it or are in flight, counted up to {@link #PENDING_MOST}
   */
  public record Subscription(
      Route route, boolean active, boolean catchingUp, Instant createdAt, long pending) {}

  public Subscriptions(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  /** The first thousand by name. */
  public List<Subscription> list() throws SQLException {
    return database.list(LIST, Subscriptions::subscription);
  }

  /**
   * Adds a subscription to a topic. It gets every message that is committed from now on. False if
   * it is there already.
   */
  public boolean add(String actor, Route route) throws SQLException {
    return change(ADD, actor, route);
  }

  /**
   * Adds a named subscription that gets every message of the topic from a time on, by the times in
   * their ids. The earlier messages of a key come before those that are committed from now on,
   * which wait until the replay is done.
   *
   * @return the number of the replay, for {@code Replay.run}; null if the subscription is there
   *     already
   */
  public @Nullable Long add(String actor, Route route, Instant from) throws SQLException {
    return database
        .list(
            ADD_FROM,
            row -> Optional.ofNullable(row.getObject(1, Long.class)),
            actor,
            route.namespace(),
            route.topic(),
            route.subscription(),
            from)
        .get(0)
        .orElse(null);
  }

  /**
   * Removes a subscription: it gets no message that is committed from now on. What waits for it is
   * still delivered. False if it was not there.
   */
  public boolean remove(String actor, Route route) throws SQLException {
    return change(REMOVE, actor, route);
  }

  private boolean change(String sql, String actor, Route route) throws SQLException {
    return database.one(
        sql,
        row -> row.getBoolean(1),
        actor,
        route.namespace(),
        route.topic(),
        route.subscription());
  }

  private static Subscription subscription(ResultSet row) throws SQLException {
    return new Subscription(
        new Route(row.getString("namespace"), row.getString("topic"), row.getString("name")),
        row.getBoolean("active"),
        row.getBoolean("catching_up"),
        Objects.requireNonNull(Database.instant(row, "created_at")),
        row.getLong("pending"));
  }
}
