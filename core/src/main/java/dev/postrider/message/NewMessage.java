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
 * Immutable.
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
    @Nullable UUID id) {

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

  /** Collects the fields; not thread-safe. */
  public static final class Builder {
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

    private Builder(Route route) {
      this.route = route;
    }

    /** A JSON payload; the database refuses what is not JSON. */
    public Builder json(String json) {
      Text.check("payload", json);
      this.payload = json.getBytes(StandardCharsets.UTF_8);
      this.contentType = null;
      return this;
    }

    /** A payload of any other kind. */
    public Builder payload(byte[] bytes, String type) {
      this.payload = bytes.clone();
      this.contentType = type;
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
          id);
    }
  }
}
