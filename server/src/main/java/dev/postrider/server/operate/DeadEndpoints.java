package dev.postrider.server.operate;

import dev.postrider.access.Permission;
import dev.postrider.deadletter.DeadLetter;
import dev.postrider.deadletter.DeadLetterPage;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.internal.monitor.DeadGroup;
import dev.postrider.internal.monitor.DeadGroups;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Cursors;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Paging;
import dev.postrider.server.api.Problem;
import dev.postrider.server.api.Values;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Dead letters: list, look, requeue, discard; one by one or by conditions. */
final class DeadEndpoints {
  static final Field REASON =
      Field.text("reason", "Why, for the audit").between(1, 1000).mandatory();
  private static final Field ID = Field.of("id", Kind.ID, "The message's id");

  private final DeadLetters dead;

  DeadEndpoints(DataSource dataSource, Schema schema) {
    this.dead = new DeadLetters(dataSource, schema);
  }

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/dead", Permission.READ)
            .about("dead letters", "Dead letters by the time they died")
            .scoped()
            .query(Conditions.DEAD)
            .query(
                Field.choice("order", "Oldest first if not given", "oldest", "newest"),
                Paging.cursor(Kind.TEXT),
                Paging.LIMIT)
            .answersPage(DeadLetter.class, String.class)
            .handledBy(this::page),
        Endpoint.get("/v1/dead/groups", Permission.READ)
            .about(
                "dead letters",
                "Dead letters by topic, code and kind of error, of the newest 10,000 that match")
            .scoped()
            .query(Conditions.DEAD)
            .answers(Groups.class)
            .handledBy(this::groups),
        Endpoint.get("/v1/dead/{id}", Permission.READ)
            .about(
                "dead letters",
                "One dead letter, of several subscriptions the newest; its attempts are with the"
                    + " message")
            .scoped()
            .path(ID)
            .query(Conditions.SUBSCRIPTION)
            .answers(DeadLetter.class)
            .problems(404)
            .handledBy(call -> find(call, call.query())),
        act(
                "/v1/dead/{id}/requeue",
                "Send one again, also if it was discarded, to all subscriptions where it is dead")
            .path(ID)
            .body(Conditions.SUBSCRIPTION)
            .problems(404, 409)
            .handledBy(this::requeueOne),
        act(
                "/v1/dead/{id}/discard",
                "Give one up for good in all subscriptions where it is dead; its key goes on")
            .path(ID)
            .body(REASON, Conditions.SUBSCRIPTION)
            .problems(404, 409)
            .handledBy(this::discardOne),
        act("/v1/dead/requeue", "Send again what is listed or matches, oldest first")
            .body(Selection.FIELDS)
            .handledBy(this::requeueMany),
        act("/v1/dead/discard", "Give up what is listed or matches, for good")
            .body(Selection.FIELDS)
            .body(REASON)
            .handledBy(this::discardMany));
  }

  private static Endpoint.Builder act(String path, String summary) {
    return Endpoint.post(path, Permission.OPERATE)
        .about("dead letters", summary)
        .scoped()
        .answers(Done.class);
  }

  private Object page(Call call) throws SQLException {
    DeadLetterPage page =
        dead.list(
            Selection.filter(call, call.query()),
            "newest".equals(call.query().text("order")),
            Cursors.read(call.query().text("cursor")),
            Paging.limit(call.query()));
    return Paging.page(page.items(), Cursors.text(page.next()));
  }

  /**
   * Groups of dead letters.
   *
   * @param counted how many were read; all of them, if it is complete
   */
  record Groups(List<DeadGroup> items, int counted, boolean complete) {}

  private Object groups(Call call) throws SQLException {
    // A fingerprint of a receiver's reply would tell something of it.
    DeadGroups.Result result =
        new DeadGroups(dead, call.may(Permission.PAYLOAD_READ))
            .read(Selection.filter(call, call.query()));
    return new Groups(result.groups(), result.counted(), result.complete());
  }

  private DeadLetter find(Call call, Values given) throws SQLException {
    UUID id = call.path().idOf("id");
    @Nullable String in = given.text("subscription");
    return dead.all(id).stream()
        .filter(letter -> call.caller().scope().covers(letter.tenant(), letter.route()))
        .filter(
            letter ->
                in == null || letter.route().subscription().equals(Conditions.subscription(in)))
        .findFirst()
        .orElseThrow(() -> Problem.notFound("there is no dead letter " + id).toException());
  }

  private Object requeueOne(Call call) throws SQLException {
    DeadLetter letter = find(call, call.body());
    return done(
        call,
        call.body().has("subscription")
            ? dead.requeue(call.actor(), letter.id(), letter.route())
            : dead.requeue(call.actor(), letter.id()));
  }

  private Object discardOne(Call call) throws SQLException {
    DeadLetter letter = find(call, call.body());
    String reason = call.body().textOf("reason");
    return done(
        call,
        call.body().has("subscription")
            ? dead.discard(call.actor(), reason, letter.id(), letter.route())
            : dead.discard(call.actor(), reason, letter.id()));
  }

  /** Somebody else was faster. */
  private static Object done(Call call, boolean done) {
    if (!done) {
      throw Problem.conflict("message " + call.path().idOf("id") + " is not dead any more")
          .toException();
    }
    return new Done(1, true);
  }

  private Object requeueMany(Call call) throws SQLException {
    Selection selection = Selection.of(call);
    TimeBudget timeBudget = new TimeBudget();
    long count =
        selection.ids().isEmpty()
            ? dead.requeue(call.actor(), selection.filter(), timeBudget)
            : dead.requeue(call.actor(), selection.ids());
    return new Done(count, !timeBudget.over());
  }

  private Object discardMany(Call call) throws SQLException {
    Selection selection = Selection.of(call);
    String reason = call.body().textOf("reason");
    TimeBudget timeBudget = new TimeBudget();
    long count =
        selection.ids().isEmpty()
            ? dead.discard(call.actor(), reason, selection.filter(), timeBudget)
            : dead.discard(call.actor(), reason, selection.ids());
    return new Done(count, !timeBudget.over());
  }
}
