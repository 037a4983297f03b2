package dev.postrider.internal.envelope;

import dev.postrider.message.Message;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The headers that travel with every message: the producer's own first, then ours, which win over
 * theirs of the same name in whatever case. Thread-safe.
 */
public final class EventHeaders {
  private static final Set<String> OURS =
      Set.of(
          "x-event-id",
          "x-aggregate-type",
          "x-aggregate-id",
          "x-event-type",
          "x-group-id",
          "x-subsidiary-id",
          "x-key",
          "x-sequence",
          "x-attempts",
          "x-fencing-token",
          "x-redelivery",
          "content-type");

  /** Attributes of CloudEvents, as HTTP, Kafka and AMQP write them. */
  private static final List<String> ATTRIBUTES =
      List.of("ce-", "ce_", "cloudevents:", "cloudevents_");

  /** The W3C's trace context. */
  private static final Set<String> TRACE = Set.of("traceparent", "tracestate");

  private EventHeaders() {}

  public static Map<String, String> of(Message message) {
    Map<String, String> headers = new LinkedHashMap<>(message.headers());
    headers.keySet().removeIf(EventHeaders::isOurs);
    Tenant tenant = Tenant.of(message.tenant());
    headers.put("x-event-id", message.id().toString());
    put(headers, "x-aggregate-type", message.aggregateType());
    put(headers, "x-aggregate-id", message.aggregateId());
    put(headers, "x-event-type", message.eventType());
    put(headers, "x-group-id", tenant.group());
    put(headers, "x-subsidiary-id", tenant.subsidiary());
    put(headers, "x-key", message.key());
    put(headers, "x-sequence", message.key() == null ? null : Long.toString(message.sequence()));
    headers.put("x-attempts", Integer.toString(message.attempt()));
    headers.put("x-fencing-token", Long.toString(message.token()));
    put(headers, "x-redelivery", message.redelivery() ? "true" : null);
    return headers;
  }

  /**
   * Whether it is one that every message has, or the trace's. The rest is between the producer and
   * its own systems: addresses of its users, keys, cookies.
   */
  public static boolean isUsual(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return OURS.contains(lower) || TRACE.contains(lower);
  }

  /**
   * A producer must not pass for another tenant by a header that we leave out, nor by one that
   * differs from ours in case only: HTTP knows no case.
   */
  private static boolean isOurs(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return OURS.contains(lower) || ATTRIBUTES.stream().anyMatch(lower::startsWith);
  }

  private static void put(Map<String, String> headers, String name, @Nullable String value) {
    if (value != null) {
      headers.put(name, value);
    }
  }
}
