package dev.postrider.server.messages;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.postrider.operations.AttemptRecord;
import dev.postrider.operations.DeliveryStatus;
import dev.postrider.operations.MessageStatus;
import dev.postrider.operations.StoredMessage;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.util.RawValue;

/**
 * One message as it goes out.
 *
 * @param withheld why payload and headers are not there
 * @param payload JSON as it is
 * @param payloadBase64 what is not JSON
 * @param deliveries one for each subscription
 */
record ShownMessage(
    @JsonUnwrapped MessageStatus status,
    String contentType,
    int payloadBytes,
    @Nullable String withheld,
    @Nullable Map<String, String> headers,
    @Nullable RawValue payload,
    @Nullable String payloadBase64,
    List<DeliveryStatus> deliveries,
    List<AttemptRecord> history) {
  private static final String WITHHELD =
      "payload and headers are shown only to tokens with the permission payload:read";

  static ShownMessage of(
      StoredMessage message,
      List<DeliveryStatus> deliveries,
      List<AttemptRecord> history,
      boolean content) {
    boolean json = message.json();
    byte[] payload = message.payload();
    return new ShownMessage(
        message.status(),
        message.contentType(),
        payload.length,
        content ? null : WITHHELD,
        content ? message.headers() : null,
        content && json ? new RawValue(new String(payload, StandardCharsets.UTF_8)) : null,
        content && !json ? Base64.getEncoder().encodeToString(payload) : null,
        deliveries,
        history);
  }
}
