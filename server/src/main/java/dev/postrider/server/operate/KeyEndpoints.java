package dev.postrider.server.operate;

import dev.postrider.access.Permission;
import dev.postrider.deadletter.BlockedKey;
import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.deadletter.DeadLetterPage.Cursor;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Cursors;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Paging;
import dev.postrider.server.api.Problem;
import dev.postrider.store.Schema;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** Keys that wait for an operator behind a dead message. */
final class KeyEndpoints {
  private static final Field NAMESPACE = Field.text("namespace", "The key's").mandatory();
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
            .body(NAMESPACE, KEY)
            .answers(Done.class)
            .problems(404)
            .handledBy(this::retry),
        Endpoint.post("/v1/keys/skip", Permission.OPERATE)
            .about("keys", "Discard a key's dead head, so that its followers go on without it")
            .body(
                NAMESPACE,
                KEY,
                Field.text("reason", "Why, for the audit").between(1, 1000).mandatory())
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
    return done(
        call, keys.retry(call.actor(), call.body().textOf("namespace"), call.body().textOf("key")));
  }

  private Object skip(Call call) throws SQLException {
    return done(
        call,
        keys.skip(
            call.actor(),
            call.body().textOf("reason"),
            call.body().textOf("namespace"),
            call.body().textOf("key")));
  }

  private static Object done(Call call, boolean done) {
    if (!done) {
      throw Problem.notFound("key " + call.body().text("key") + " does not wait for a dead message")
          .toException();
    }
    return new Done(1, true);
  }
}
