package dev.postrider.server.operate;

import dev.postrider.access.Permission;
import dev.postrider.deadletter.BlockedKey;
import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.deadletter.DeadLetterPage.Cursor;
import dev.postrider.message.Route;
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
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Keys that wait for an operator behind a dead message. */
final class KeyEndpoints {
  private static final Field NAMESPACE = Field.text("namespace", "The key's").mandatory();
  private static final Field TOPIC = Field.text("topic", "The topic, with a subscription");
  private static final Field SUBSCRIPTION =
      Field.text("subscription", "Where the key is blocked; without it the default subscription")
          .between(0, 100);
  private static final Field KEY = Field.text("key", "The key").mandatory();

  private final BlockedKeys keys;

  KeyEndpoints(DataSource dataSource, Schema schema) {
    this.keys = new BlockedKeys(dataSource, schema);
  }

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/keys/blocked", Permission.READ)
            .about("keys", "Keys that wait for their dead head, those that wait longest first")
            .query(Paging.cursor(Kind.TEXT), Paging.LIMIT)
            .answersPage(BlockedKey.class, String.class)
            .handledBy(this::blocked),
        Endpoint.post("/v1/keys/retry", Permission.OPERATE)
            .about("keys", "Try a key's dead head again; its followers keep waiting for it")
            .body(NAMESPACE, KEY, TOPIC, SUBSCRIPTION)
            .answers(Done.class)
            .problems(404)
            .handledBy(this::retry),
        Endpoint.post("/v1/keys/skip", Permission.OPERATE)
            .about("keys", "Discard a key's dead head, so that its followers go on without it")
            .body(
                NAMESPACE,
                KEY,
                Field.text("reason", "Why, for the audit").between(1, 1000).mandatory(),
                TOPIC,
                SUBSCRIPTION)
            .answers(Done.class)
            .problems(404)
            .handledBy(this::skip));
  }

  private Object blocked(Call call) throws SQLException {
    int limit = Paging.limit(call.query());
    List<BlockedKey> page = keys.page(Cursors.read(call.query().text("cursor")), limit);
    if (page.size() < limit) {
      return Paging.page(page, null);
    }
    BlockedKey last = page.get(page.size() - 1);
    return Paging.page(page, Cursors.text(new Cursor(last.blockedAt(), last.head())));
  }

  private Object retry(Call call) throws SQLException {
    return done(call, keys.retry(call.actor(), route(call.body()), call.body().textOf("key")));
  }

  private Object skip(Call call) throws SQLException {
    Values body = call.body();
    return done(
        call, keys.skip(call.actor(), body.textOf("reason"), route(body), body.textOf("key")));
  }

  /** A key of a named subscription is that of a topic; else its order holds across topics. */
  private static Route route(Values body) {
    @Nullable String given = body.text("subscription");
    String subscription = given == null ? "" : Conditions.subscription(given);
    if (!subscription.isEmpty() && !body.has("topic")) {
      throw Problem.invalid("topic", "is mandatory with a subscription").toException();
    }
    @Nullable String topic = body.text("topic");
    return new Route(body.textOf("namespace"), topic == null ? "" : topic, subscription);
  }

  private static Object done(Call call, boolean done) {
    if (!done) {
      throw Problem.notFound("key " + call.body().text("key") + " does not wait for a dead message")
          .toException();
    }
    return new Done(1, true);
  }
}
