package dev.postrider.envelope;

import dev.postrider.internal.envelope.Tenant;
import dev.postrider.internal.text.JsonObject;
import dev.postrider.message.Message;
import java.util.Map;

/** The envelope that consumers get unless they ask for another. */
final class StandardEnvelope {
  private StandardEnvelope() {}

  static Sealed seal(Message message) {
    Tenant tenant = Tenant.of(message.tenant());
    byte[] body =
        new JsonObject()
            .with("event_id", message.id().toString())
            .with("occurred_at", message.createdAt().toString())
            .withOrNull("aggregate_type", message.aggregateType())
            .withOrNull("aggregate_id", message.aggregateId())
            .withOrNull("event_type", message.eventType())
            .withOrNull("group_id", tenant.group())
            .withOrNull("subsidiary_id", tenant.subsidiary())
            .endWithPayload(
                message.json(),
                message.contentType(),
                message.payload(),
                "payload",
                "payload_base64");
    return new Sealed(Message.JSON, body, Map.of());
  }
}
