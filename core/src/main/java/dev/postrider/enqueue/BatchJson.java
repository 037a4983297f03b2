package dev.postrider.enqueue;

import dev.postrider.internal.text.Json;
import dev.postrider.message.NewMessage;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The argument of {@code enqueue_batch}. */
final class BatchJson {
  private final StringBuilder out = new StringBuilder("[");

  private BatchJson() {}

  static String of(List<NewMessage> messages) {
    BatchJson json = new BatchJson();
    messages.forEach(json::add);
    return json.out.append(']').toString();
  }

  private void add(NewMessage message) {
    out.append(out.length() > 1 ? ",{" : "{");
    field("namespace", message.route().namespace());
    field("topic", message.route().topic());
    if (message.isJson()) {
      field("payload", new String(message.payload(), StandardCharsets.UTF_8));
    } else {
      field("payload_base64", Base64.getEncoder().encodeToString(message.payload()));
    }
    field("content_type", message.contentType());
    field("key", message.key());
    field("dedupe_key", message.dedupeKey());
    field("tenant", message.tenant());
    field("aggregate_type", message.aggregateType());
    field("aggregate_id", message.aggregateId());
    field("event_type", message.eventType());
    field("not_before", Objects.toString(message.notBefore(), null));
    field("id", Objects.toString(message.id(), null));
    if (!message.headers().isEmpty()) {
      name("headers");
      out.append(Json.write(message.headers()));
    }
    out.append('}');
  }

  private void field(String name, @Nullable String value) {
    if (value != null) {
      name(name);
      Json.quote(out, value);
    }
  }

  private void name(String name) {
    out.append(out.charAt(out.length() - 1) == '{' ? "\"" : ",\"").append(name).append("\":");
  }
}
