package dev.postrider.envelope;

import dev.postrider.message.Message;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The headers that travel with every message: the producer's own first, then ours, which win over
 * theirs of the same name. Thread-safe.
 */
public final class EventHeaders {
  private EventHeaders() {}

  public static Map<String, String> of(Message message) {
    Map<String, String> headers = new LinkedHashMap<>(message.headers());
    Tenant tenant = Tenant.of(message.tenant());
    headers.put("x-event-id", message.id().toString());
    set(headers, "x-aggregate-type", message.aggregateType());
    set(headers, "x-aggregate-id", message.aggregateId());
    set(headers, "x-event-type", message.eventType());
    set(headers, "x-group-id", tenant.group());
    set(headers, "x-subsidiary-id", tenant.subsidiary());
    set(headers, "x-key", message.key());
    set(headers, "x-sequence", message.key() == null ? null : Long.toString(message.sequence()));
    headers.put("x-attempts", Integer.toString(message.attempt()));
    headers.put("x-fencing-token", Long.toString(message.token()));
    set(headers, "x-redelivery", message.redelivery() ? "true" : null);
    return headers;
  }

  /** A producer must not pass for another tenant by a header that we leave out. */
  private static void set(Map<String, String> headers, String name, @Nullable String value) {
    if (value == null) {
      headers.remove(name);
    } else {
      headers.put(name, value);
    }
  }
}
