package dev.postrider.server.stream;

import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What a line of a stream holds, for the API's description. The lines are written elsewhere. */
sealed interface StreamRecord {
  /** Content is there only with the permission payload:read, and not if it was archived. */
  record StreamEvent(
      UUID eventId,
      long position,
      @Nullable String type,
      String namespace,
      String topic,
      @Nullable String aggregateType,
      @Nullable String aggregateId,
      @Nullable String tenant,
      Instant occurredAt,
      int delivery,
      @Nullable Boolean archived,
      @Nullable String contentType,
      @Nullable Map<String, String> headers,
      @Nullable Object payload,
      @Nullable String payloadBase64)
      implements StreamRecord {}

  /** Nothing happened; the position moves on all the same. */
  record StreamHeartbeat(Instant heartbeat, long position) implements StreamRecord {}

  /** The last line: why it ended, and from where to resume. */
  record StreamEnd(String end, long position, @Nullable Long oldest) implements StreamRecord {}
}
