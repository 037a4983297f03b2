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
import java.util.UUID;
import java.util.function.LongPredicate;
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
  private static final String ADD_FROM = "select postrider.subscription_add_from(?, ?, ?, ?, ?, ?)";
  private static final String PENDING = "select postrider.subscription_pending(?, ?, ?)";
  private static final String REMOVE = "select postrider.subscription_remove(?, ?, ?, ?, ?)";
  private static final String DISCARD =
      "select discarded, audit from postrider.subscription_discard(?, ?, ?, ?, ?, ?, ?)";
  private static final int DISCARD_STEP = 5_000;

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
   * How many messages wait for a subscription or are in flight, counted up to {@link
   * #PENDING_MOST}.
   */
  public long pending(Route route) throws SQLException {
    return database.one(
        PENDING, row -> row.getLong(1), route.namespace(), route.topic(), route.subscription());
  }

  /**
   * Adds a subscription to a topic. It gets every message that is committed from now on. False if
   * it is there already.
   */
  public boolean add(String actor, Route route) throws SQLException {
    return database.one(
        ADD,
        row -> row.getBoolean(1),
        actor,
        route.namespace(),
        route.topic(),
        route.subscription());
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
    return addFrom(actor, route, from, null);
  }

  /** The same from a message on, by the order of ids. */
  public @Nullable Long add(String actor, Route route, UUID from) throws SQLException {
    return addFrom(actor, route, null, from);
  }

  private @Nullable Long addFrom(
      String actor, Route route, @Nullable Instant time, @Nullable UUID position)
      throws SQLException {
    return database
        .list(
            ADD_FROM,
            row -> Optional.ofNullable(row.getObject(1, Long.class)),
            actor,
            route.namespace(),
            route.topic(),
            route.subscription(),
            time,
            position)
        .get(0)
        .orElse(null);
  }

  /**
   * Removes a subscription: it gets no message that is committed from now on. What waits for it is
   * still delivered. False if it was not there. Refused while messages wait until it has its
   * earlier ones: let the replay end, or discard them.
   */
  public boolean remove(String actor, Route route) throws SQLException {
    return remove(actor, route, false);
  }

  /**
   * Removes a subscription.
   *
   * @param discard whether the caller discards what waits for it next, with {@link #discard}. So a
   *     subscription that is catching up can be removed at once.
   */
  public boolean remove(String actor, Route route, boolean discard) throws SQLException {
    return database.one(
        REMOVE,
        row -> row.getBoolean(1),
        actor,
        route.namespace(),
        route.topic(),
        route.subscription(),
        discard);
  }

  /**
   * Discards what waits for a removed subscription, in short steps. What is in flight stays, and so
   * do dead messages that block their key. Returns how many were discarded.
   *
   * @param goOn asked after each step, with the number so far
   */
  public long discard(String actor, Route route, String reason, LongPredicate goOn)
      throws SQLException {
    record Step(int discarded, long audit) {}
    long sum = 0;
    @Nullable Long audit = null;
    while (true) {
      @Nullable Long before = audit;
      Step step =
          Database.repeated(
              () ->
                  database.one(
                      DISCARD,
                      row -> new Step(row.getInt(1), row.getLong(2)),
                      actor,
                      reason,
                      route.namespace(),
                      route.topic(),
                      route.subscription(),
                      DISCARD_STEP,
                      before));
      sum += step.discarded();
      audit = step.audit();
      if (step.discarded() == 0 || !goOn.test(sum)) {
        return sum;
      }
    }
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
