package dev.postrider.server.operate;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.postrider.access.Permission;
import dev.postrider.message.Route;
import dev.postrider.operations.Pauses;
import dev.postrider.operations.Pauses.Kind;
import dev.postrider.operations.Pauses.Pause;
import dev.postrider.operations.Subscriptions;
import dev.postrider.operations.Subscriptions.Subscription;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Listing;
import dev.postrider.server.api.Problem;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Subscriptions of topics: list, add, remove, pause, resume. */
final class SubscriptionEndpoints {
  private static final String LOCK_NOT_AVAILABLE = "55P03";

  private static final List<Field> NAMED =
      List.of(
          Field.text("namespace", "The topic's").mandatory(),
          Field.text("topic", "The topic").mandatory(),
          Conditions.SUBSCRIPTION.mandatory());

  private final Subscriptions subscriptions;
  private final Pauses pauses;
  private final ReplayEndpoints replays;

  SubscriptionEndpoints(DataSource dataSource, Schema schema, ReplayEndpoints replays) {
    this.replays = replays;
    this.subscriptions = new Subscriptions(dataSource, schema);
    this.pauses = new Pauses(dataSource, schema);
  }

  /**
   * A subscription.
   *
   * @param active false if it was removed: it gets no new messages
   * @param catchingUp whether it still gets messages from before it was added
   * @param pending messages that wait for it, counted up to 10,000
   * @param pendingAtLeast whether there are more
   */
  record ShownSubscription(
      @JsonUnwrapped Route route,
      boolean active,
      boolean catchingUp,
      Instant createdAt,
      long pending,
      boolean pendingAtLeast,
      boolean paused,
      @Nullable String pausedBy,
      @Nullable Instant pausedAt) {
    static ShownSubscription of(Subscription one, @Nullable Pause pause) {
      int most = Subscriptions.PENDING_MOST - 1;
      return new ShownSubscription(
          one.route(),
          one.active(),
          one.catchingUp(),
          one.createdAt(),
          Math.min(one.pending(), most),
          one.pending() > most,
          pause != null,
          pause == null ? null : pause.pausedBy(),
          pause == null ? null : pause.pausedAt());
    }
  }

  /**
   * Whether it was otherwise before.
   *
   * @param replay the job that brings earlier messages
   * @param pending messages that still wait for a subscription that was removed, counted up to
   *     10,000
   * @param pendingAtLeast whether there are more
   */
  record SubscriptionChange(
      @JsonUnwrapped Route route,
      boolean changed,
      @Nullable Long replay,
      @Nullable Long pending,
      @Nullable Boolean pendingAtLeast) {
    SubscriptionChange(Route route, boolean changed, @Nullable Long replay) {
      this(route, changed, replay, null, null);
    }

    SubscriptionChange withPending(long count) {
      long most = Subscriptions.PENDING_MOST - 1;
      return new SubscriptionChange(route, changed, replay, Math.min(count, most), count > most);
    }
  }

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/subscriptions", Permission.READ)
            .about(
                "subscriptions",
                "Subscriptions by topic, 1,000 at most; a topic that is not listed has one,"
                    + " without a name")
            .answersList(ShownSubscription.class)
            .handledBy(call -> Listing.of(all())),
        act(
                "/v1/subscriptions",
                "Add one: it gets every message that is committed from now on; with from also"
                    + " earlier ones, which come first")
            .body(
                Field.of(
                    "from", dev.postrider.server.api.Kind.TIME, "Messages of this time or later"),
                Field.of(
                    "from_id", dev.postrider.server.api.Kind.ID, "This message and later ones"),
                ReplayEndpoints.RATE)
            .problems(409)
            .handledBy(
                call ->
                    call.body().has("from") || call.body().has("from_id")
                        ? addFrom(call)
                        : change(call, route -> subscriptions.add(call.actor(), route))),
        act(
                "/v1/subscriptions/remove",
                "Remove one: what waits for it is still delivered, but it gets nothing new")
            .body(
                Field.of(
                    "discard",
                    dev.postrider.server.api.Kind.BOOLEAN,
                    "What waits is discarded by the next call; required while it is catching up"))
            .problems(409)
            .handledBy(this::remove),
        Endpoint.post("/v1/subscriptions/discard", Permission.OPERATE)
            .about("subscriptions", "Discard what waits for a removed one")
            .body(NAMED)
            .body(DeadEndpoints.REASON)
            .answers(Done.class)
            .handledBy(this::discard),
        act("/v1/subscriptions/pause", "Stop one; its messages stay pending")
            .handledBy(
                call ->
                    change(
                        call,
                        route -> pauses.pause(call.actor(), Kind.SUBSCRIPTION, pauseName(route)))),
        act("/v1/subscriptions/resume", "Let one go on")
            .handledBy(
                call ->
                    change(
                        call,
                        route ->
                            pauses.resume(call.actor(), Kind.SUBSCRIPTION, pauseName(route)))));
  }

  private static Endpoint.Builder act(String path, String summary) {
    return Endpoint.post(path, Permission.OPERATE)
        .about("subscriptions", summary)
        .body(NAMED)
        .answers(SubscriptionChange.class);
  }

  /** Something that is done to a subscription. */
  @FunctionalInterface
  private interface Act {
    boolean on(Route route) throws SQLException;
  }

  private static Route route(Call call) {
    return new Route(
        call.body().textOf("namespace"),
        call.body().textOf("topic"),
        Conditions.subscription(call.body().textOf("subscription")));
  }

  private SubscriptionChange addFrom(Call call) throws SQLException {
    @Nullable Instant from = call.body().time("from");
    @Nullable UUID fromId = call.body().id("from_id");
    Route route = route(call);
    if (from != null && fromId != null) {
      throw Problem.invalid("from", "and from_id were both given; give one").toException();
    }
    try {
      @Nullable Long job =
          replays.work(
              call,
              () ->
                  from != null
                      ? subscriptions.add(call.actor(), route, from)
                      : subscriptions.add(call.actor(), route, Objects.requireNonNull(fromId)));
      return new SubscriptionChange(route, job != null, job);
    } catch (SQLException e) {
      throw known(e);
    }
  }

  private SubscriptionChange remove(Call call) throws SQLException {
    boolean discard = call.body().flag("discard");
    return change(call, route -> subscriptions.remove(call.actor(), route, discard))
        .withPending(subscriptions.pending(route(call)));
  }

  private Done discard(Call call) throws SQLException {
    TimeBudget budget = new TimeBudget();
    String reason = call.body().textOf("reason");
    return new Done(
        subscriptions.discard(call.actor(), route(call), reason, budget), !budget.over());
  }

  private static SubscriptionChange change(Call call, Act act) throws SQLException {
    Route route = route(call);
    try {
      return new SubscriptionChange(route, act.on(route), null);
    } catch (SQLException e) {
      throw known(e);
    }
  }

  private static SQLException known(SQLException failure) {
    if (LOCK_NOT_AVAILABLE.equals(failure.getSQLState())) {
      throw Problem.conflict(
              "a transaction that enqueued is open for too long; nothing was changed, try again")
          .toException();
    }
    return failure;
  }

  private List<ShownSubscription> all() throws SQLException {
    Map<String, Pause> paused =
        pauses.list().stream()
            .filter(pause -> pause.kind() == Kind.SUBSCRIPTION)
            .collect(Collectors.toMap(Pause::name, Function.identity()));
    return subscriptions.list().stream()
        .map(one -> ShownSubscription.of(one, paused.get(pauseName(one.route()))))
        .toList();
  }

  private static String pauseName(Route route) {
    return route.withoutSubscription()
        + "#"
        + (route.subscription().isEmpty() ? "default" : route.subscription());
  }
}
