package dev.postrider.internal.stream;

import dev.postrider.internal.text.JsonObject;
import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An event of the log.
 *
 * @param id the message's: a message that was delivered twice is two events with one id
 * @param delivery 1 for the first delivery, more for each requeue or replay
 * @param content null if the message was archived meanwhile
 */
public record StreamEvent(
    long position,
    UUID id,
    Route route,
    @Nullable String tenant,
    @Nullable String aggregateType,
    @Nullable String aggregateId,
    @Nullable String eventType,
    Instant occurredAt,
    int delivery,
    @Nullable Content content) {

  /**
   * What the message carries. The payload array is shared: do not write to it.
   *
   * @param json whether the payload is valid JSON, as enqueue has found
   */
  public record Content(
      String contentType, boolean json, Map<String, String> headers, byte[] payload) {}

  /** What a filter's condition of this name is compared with. */
  @Nullable String value(String condition) {
    return switch (condition) {
      case "tenant" -> tenant;
      case "namespace" -> route.namespace();
      case "topic" -> route.topic();
      case "aggregate_type" -> aggregateType;
      case "aggregate_id" -> aggregateId;
      case "event_type" -> eventType;
      default -> throw new PostriderException("no condition is called " + condition);
    };
  }

  /** The same without content, for those who keep many. */
  public StreamEvent bare() {
    return new StreamEvent(
        position,
        id,
        route,
        tenant,
        aggregateType,
        aggregateId,
        eventType,
        occurredAt,
        delivery,
        null);
  }

  /**
   * One JSON object on one line, in UTF-8.
   *
   * @param withContent whether headers and payload are shown
   */
  public byte[] json(boolean withContent) {
    JsonObject json =
        new JsonObject()
            .with("event_id", id.toString())
            .with("position", position)
            .withOrNull("type", eventType)
            .with("namespace", route.namespace())
            .with("topic", route.topic())
            .withOrNull("aggregate_type", aggregateType)
            .withOrNull("aggregate_id", aggregateId)
            .withOrNull("tenant", tenant)
            .with("occurred_at", occurredAt.toString())
            .with("delivery", delivery);
    if (!withContent) {
      return json.end();
    } else if (content == null) {
      return json.with("archived", true).end();
    }
    json.with("content_type", content.contentType()).with("headers", content.headers());
    return oneLine(
        json.endWithPayload(
            content.json(), content.contentType(), content.payload(), "payload", "payload_base64"));
  }

  /** JSON has line breaks only between its tokens; those within strings are escaped. */
  private static byte[] oneLine(byte[] json) {
    for (int i = 0; i < json.length; i++) {
      if (json[i] == '\n' || json[i] == '\r') {
        json[i] = ' ';
      }
    }
    return json;
  }
}
