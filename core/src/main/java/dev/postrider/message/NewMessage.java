package dev.postrider.message;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message to enqueue. Only namespace, topic and payload are mandatory; limits are checked by the
 * database, which refuses with the field's name. Text that PostgreSQL cannot hold is refused here.
 * Immutable, except that the content is the caller's object.
 *
 * @param payload empty while there is a content
 * @param content an object that the outbox's codec turns into the payload, null if there is a
 *     payload
 */
public record NewMessage(
    Route route,
    byte[] payload,
    @Nullable String contentType,
    @Nullable String key,
    @Nullable String dedupeKey,
    @Nullable String tenant,
    @Nullable String aggregateType,
    @Nullable String aggregateId,
    @Nullable String eventType,
    Map<String, String> headers,
    @Nullable Instant notBefore,
    @Nullable UUID id,
    @Nullable Object content) {

  public NewMessage {
    headers = Map.copyOf(headers);
    Text.check("namespace", route.namespace());
    Text.check("topic", route.topic());
    Text.check("content_type", contentType);
    Text.check("key", key);
    Text.check("dedupe_key", dedupeKey);
    Text.check("tenant", tenant);
    Text.check("aggregate_type", aggregateType);
    Text.check("aggregate_id", aggregateId);
    Text.check("event_type", eventType);
    headers.forEach(
        (name, value) -> {
          Text.check("headers", name);
          Text.check("headers", value);
        });
  }

  /** Starts a message for a topic of a namespace. */
  public static Builder to(String namespace, String topic) {
    return new Builder(new Route(namespace, topic));
  }

  /** Whether the payload is JSON by its content type, which is the default. */
  public boolean isJson() {
    return contentType == null;
  }

  /** The same message with this JSON as its payload instead of an object. */
  NewMessage withJson(String json) {
    Text.check("payload", json);
    return new NewMessage(
        route,
        json.getBytes(StandardCharsets.UTF_8),
        null,
        key,
        dedupeKey,
        tenant,
        aggregateType,
        aggregateId,
        eventType,
        headers,
        notBefore,
        id,
        null);
  }

  /** Collects the fields; not thread-safe. */
  public static final class Builder {
    private static final byte[] NO_BYTES = {};

    private final Route route;
    private byte @Nullable [] payload;
    private @Nullable String contentType;
    private @Nullable String key;
    private @Nullable String dedupeKey;
    private @Nullable String tenant;
    private @Nullable String aggregateType;
    private @Nullable String aggregateId;
    private @Nullable String eventType;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private @Nullable Instant notBefore;
    private @Nullable UUID id;
    private @Nullable Object content;

    private Builder(Route route) {
      this.route = route;
    }

    /** A JSON payload as text; the database refuses what is not JSON. */
    public Builder json(String json) {
      given(json);
      Text.check("payload", json);
      this.payload = json.getBytes(StandardCharsets.UTF_8);
      this.contentType = null;
      this.content = null;
      return this;
    }

    /**
     * A JSON payload as an object, such as a record. The {@link JsonCodec} of the outbox writes it
     * when the message is enqueued.
     *
     * @throws InvalidMessageException if it is text or bytes: JSON text goes to {@link
     *     #json(String)}
     */
    public Builder json(Object object) {
      given(object);
      if (object instanceof CharSequence || object instanceof byte[]) {
        throw new InvalidMessageException(
            "payload",
            "payload is a %s that was passed as an object; pass JSON text to json(String), other"
                    .formatted(object.getClass().getSimpleName())
                + " bytes to payload(bytes, contentType)");
      }
      this.payload = NO_BYTES;
      this.contentType = null;
      this.content = object;
      return this;
    }

    private static void given(@Nullable Object payload) {
      if (payload == null) {
        throw new InvalidMessageException("payload", "payload is null; it is mandatory");
      }
    }

    /** A payload of any other kind. */
    public Builder payload(byte[] bytes, String type) {
      this.payload = bytes.clone();
      this.contentType = type;
      this.content = null;
      return this;
    }

    /** Messages of one key within a namespace are delivered strictly in commit order. */
    public Builder key(String value) {
      this.key = value;
      return this;
    }

    /** At most one message per topic and dedupe key, for as long as the key is retained. */
    public Builder dedupeKey(String value) {
      this.dedupeKey = value;
      return this;
    }

    public Builder tenant(String value) {
      this.tenant = value;
      return this;
    }

    public Builder aggregate(String type, String aggregate) {
      this.aggregateType = type;
      this.aggregateId = aggregate;
      return this;
    }

    public Builder eventType(String value) {
      this.eventType = value;
      return this;
    }

    /** A header that travels with the message, such as {@code traceparent}. */
    public Builder header(String name, String value) {
      headers.put(name, value);
      return this;
    }

    public Builder headers(Map<String, String> values) {
      headers.putAll(values);
      return this;
    }

    /** Not to be delivered before this instant, by the database's clock. */
    public Builder notBefore(Instant instant) {
      this.notBefore = instant;
      return this;
    }

    /** A UUIDv7 of the caller's own; without it the database makes one. */
    public Builder id(UUID value) {
      this.id = value;
      return this;
    }

    public NewMessage build() {
      byte[] body = payload;
      if (body == null) {
        throw new InvalidMessageException("payload", "payload is missing; it is mandatory");
      }
      return new NewMessage(
          route,
          body,
          contentType,
          key,
          dedupeKey,
          tenant,
          aggregateType,
          aggregateId,
          eventType,
          headers,
          notBefore,
          id,
          content);
    }
  }
}
