package dev.postrider.server.messages;

import dev.postrider.access.Permission;
import dev.postrider.access.Scope;
import dev.postrider.enqueue.Outbox;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.message.Enqueued;
import dev.postrider.message.InvalidMessageException;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.JsonText;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Problem;
import dev.postrider.server.api.Values;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Enqueues for services that have no database transaction to join. */
final class EnqueueEndpoints {
  private static final int MESSAGES_MAX = 1000;
  private static final int KEY_MAX = 400;

  /** A transaction of a service in the database may hold a key for longer, but not our threads. */
  private static final Duration STATEMENT_MAX = Duration.ofSeconds(10);

  private static final String IDEMPOTENCY_KEY = "Idempotency-Key";

  private static final List<Field> MESSAGE =
      List.of(
          Field.text("namespace", "Whose topic it is").mandatory(),
          Field.text("topic", "What it is about").mandatory(),
          Field.of("payload", Kind.JSON, "Any JSON; or payload_base64 with a content_type"),
          Field.text("payload_base64", "A payload that is not JSON").between(0, 128 << 20),
          Field.text("content_type", "Of payload_base64"),
          Field.text("key", "Messages of one key are delivered strictly in order"),
          Field.text("dedupe_key", "At most one message per topic and dedupe key"),
          Field.text("tenant", "Whose it is"),
          Field.text("aggregate_type", "What it happened to"),
          Field.text("aggregate_id", "Which one it happened to"),
          Field.text("event_type", "What happened"),
          Field.of("headers", Kind.TEXTS, "Travel with the message"),
          Field.of("not_before", Kind.TIME, "Not delivered before this time"),
          Field.of("id", Kind.ID, "A UUIDv7 of the caller's own"));

  private final DataSource dataSource;
  private final Outbox outbox;

  EnqueueEndpoints(DataSource dataSource, Schema schema) {
    this.dataSource = dataSource;
    this.outbox = new Outbox(schema);
  }

  /** The same order as in the call. */
  record EnqueuedBatch(List<Enqueued> messages) {}

  List<Endpoint> list() {
    return List.of(
        Endpoint.post("/v1/messages", Permission.ENQUEUE)
            .about(
                "messages",
                "Enqueue one message. Repeated with the same key it answers with the first id and"
                    + " duplicate: true, with status 200")
            .scoped()
            .header(
                Field.text(IDEMPOTENCY_KEY, "The dedupe_key, for clients that have it here")
                    .between(1, 400))
            .body(MESSAGE)
            .largeBody()
            .status(201)
            .answers(Enqueued.class)
            .orAnswers(200, Enqueued.class, "It was there already: the first one's id")
            .problems(409)
            .handledBy(this::one),
        Endpoint.post("/v1/messages/batch", Permission.ENQUEUE)
            .about("messages", "Enqueue many messages, all or none")
            .scoped()
            .body(
                Field.list("messages", "In the order of each key", MESSAGE)
                    .between(1, MESSAGES_MAX)
                    .mandatory())
            .largeBody()
            .status(201)
            .answers(EnqueuedBatch.class)
            .problems(409)
            .handledBy(this::many));
  }

  private Object one(Call call) throws Exception {
    NewMessage message =
        message(call.body(), call.headers().text(IDEMPOTENCY_KEY), call.caller().scope(), "");
    Enqueued enqueued = enqueue(List.of(message)).get(0);
    if (enqueued.duplicate()) {
      call.status(200);
    }
    return enqueued;
  }

  private Object many(Call call) throws Exception {
    List<NewMessage> messages = new ArrayList<>();
    for (Values values : call.body().list("messages")) {
      String path = "messages[" + messages.size() + "].";
      messages.add(message(values, null, call.caller().scope(), path));
    }
    return new EnqueuedBatch(enqueue(messages));
  }

  private List<Enqueued> enqueue(List<NewMessage> messages) throws Exception {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        List<Enqueued> enqueued =
            Database.within(STATEMENT_MAX, () -> enqueue(connection, messages));
        connection.commit();
        return enqueued;
      } catch (Exception e) {
        connection.rollback();
        throw e;
      }
    }
  }

  private List<Enqueued> enqueue(Connection connection, List<NewMessage> messages)
      throws SQLException {
    return messages.size() == 1
        ? List.of(outbox.enqueue(connection, messages.get(0)))
        : outbox.enqueue(connection, messages);
  }

  private static NewMessage message(
      Values values, @Nullable String idempotencyKey, Scope scope, String path) {
    @Nullable String tenant = values.has("tenant") ? values.text("tenant") : scope.tenant();
    Route route = new Route(values.textOf("namespace"), values.textOf("topic"));
    if (!scope.covers(tenant, route)) {
      throw Problem.forbidden(
              path
                  + "tenant, "
                  + path
                  + "namespace and "
                  + path
                  + "topic must be those that the token is limited to")
          .toException();
    }
    NewMessage.Builder builder =
        NewMessage.to(route.namespace(), route.topic()).headers(values.texts("headers"));
    payload(builder, values, path);
    given(values.text("key"), key -> builder.key(scoped(scope, "key", key, path)));
    given(
        dedupeKey(values, idempotencyKey),
        key -> builder.dedupeKey(scoped(scope, "dedupe_key", key, path)));
    given(tenant, builder::tenant);
    aggregate(builder, values, path);
    given(values.text("event_type"), builder::eventType);
    @Nullable Instant notBefore = values.time("not_before");
    if (notBefore != null) {
      builder.notBefore(notBefore);
    }
    @Nullable UUID id = values.id("id");
    if (id != null) {
      builder.id(id);
    }
    return builder.build();
  }

  private static String scoped(Scope scope, String field, String key, String path) {
    String scoped = scope.key(key);
    int length = scoped.codePointCount(0, scoped.length());
    if (length > KEY_MAX) {
      throw Problem.invalid(
              path + field,
              "must have at most %d characters with the token's tenant in front, has %d"
                  .formatted(KEY_MAX, length))
          .toException();
    }
    return scoped;
  }

  private static @Nullable String dedupeKey(Values values, @Nullable String idempotencyKey) {
    @Nullable String key = values.text("dedupe_key");
    if (key != null && idempotencyKey != null && !key.equals(idempotencyKey)) {
      throw Problem.invalid(
              "dedupe_key", "differs from the header " + IDEMPOTENCY_KEY + "; give one of them")
          .toException();
    }
    return key == null ? idempotencyKey : key;
  }

  private static void payload(NewMessage.Builder builder, Values values, String path) {
    @Nullable JsonNode json = values.json("payload");
    @Nullable String base64 = values.text("payload_base64");
    if ((json == null) == (base64 == null)) {
      throw Problem.invalid(
              path + "payload", "is mandatory: either payload, or payload_base64, and not both")
          .toException();
    }
    @Nullable String type = values.text("content_type");
    if (json != null) {
      if (type != null && !type.equals("application/json")) {
        throw Problem.invalid(
                path + "content_type", "goes with payload_base64; payload is application/json")
            .toException();
      }
      builder.json(JsonText.text(json));
    } else if (base64 != null) {
      builder.payload(decoded(base64, path), type == null ? "application/octet-stream" : type);
    }
  }

  private static byte[] decoded(String base64, String path) {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      throw Problem.invalid(path + "payload_base64", "is not Base64: " + e.getMessage())
          .toException();
    }
  }

  private static void aggregate(NewMessage.Builder builder, Values values, String path) {
    @Nullable String type = values.text("aggregate_type");
    @Nullable String id = values.text("aggregate_id");
    if (type != null && id != null) {
      builder.aggregate(type, id);
    } else if (type != null || id != null) {
      throw new InvalidMessageException(
          path + (type == null ? "aggregate_type" : "aggregate_id"),
          "an aggregate has a type and an id; give both or none");
    }
  }

  private static void given(@Nullable String value, Consumer<String> setter) {
    if (value != null) {
      setter.accept(value);
    }
  }
}
