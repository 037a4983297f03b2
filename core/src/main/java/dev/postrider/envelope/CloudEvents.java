package dev.postrider.envelope;

import dev.postrider.internal.text.JsonObject;
import dev.postrider.message.Message;
import dev.postrider.message.PostriderException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * CloudEvents 1.0: type is the event type (the topic without one), subject the aggregate, and the
 * extensions partitionkey and sequence carry key and order. Thread-safe.
 */
final class CloudEvents {
  static final String STRUCTURED = "application/cloudevents+json";

  private final String source;

  CloudEvents(String source) {
    try {
      if (source.isEmpty()) {
        throw new URISyntaxException(source, "empty");
      }
      this.source = new URI(source).toString();
    } catch (URISyntaxException e) {
      throw new PostriderException(
          "the source of CloudEvents must be a URI reference such as /shop or urn:shop, got \""
              + source
              + "\"");
    }
  }

  Sealed binary(Message message) {
    return new Sealed(message.contentType(), message.payload(), attributes(message));
  }

  Sealed structured(Message message) {
    JsonObject json = new JsonObject();
    attributes(message).forEach(json::with);
    json.with("datacontenttype", message.contentType());
    return new Sealed(
        STRUCTURED,
        json.endWithPayload(
            message.json(), message.contentType(), message.payload(), "data", "data_base64"),
        Map.of());
  }

  private Map<String, String> attributes(Message message) {
    Map<String, String> attributes = new LinkedHashMap<>();
    attributes.put("specversion", "1.0");
    attributes.put("id", message.id().toString());
    attributes.put("source", source);
    put(attributes, "type", orElse(message.eventType(), message.route().topic()));
    attributes.put("time", message.createdAt().toString());
    put(attributes, "subject", orElse(message.aggregateId(), message.key()));
    put(attributes, "partitionkey", message.key());
    if (message.sequence() > 0) {
      // Zero-padded: the extension's values are compared as text.
      attributes.put("sequence", String.format("%019d", message.sequence()));
    }
    put(attributes, "tenant", message.tenant());
    put(attributes, "traceparent", message.headers().get("traceparent"));
    put(attributes, "tracestate", message.headers().get("tracestate"));
    return attributes;
  }

  private static void put(Map<String, String> attributes, String name, @Nullable String value) {
    if (value != null && !value.isEmpty()) {
      attributes.put(name, value);
    }
  }

  private static @Nullable String orElse(@Nullable String first, @Nullable String second) {
    return first == null ? second : first;
  }
}
