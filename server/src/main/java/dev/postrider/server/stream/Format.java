package dev.postrider.server.stream;

import dev.postrider.internal.text.JsonObject;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** How records go over the wire. Both carry the same JSON objects. */
enum Format {
  NDJSON("application/x-ndjson"),
  /** An event's id is its position, so that browsers resume by themselves. */
  SSE("text/event-stream");

  private final String mediaType;

  Format(String mediaType) {
    this.mediaType = mediaType;
  }

  String mediaType() {
    return mediaType;
  }

  static Format accepted(@Nullable String accept) {
    return accept != null && accept.contains(SSE.mediaType) ? SSE : NDJSON;
  }

  /** The JSON may end its line already. */
  byte[] event(long position, byte[] json) {
    return framed("", position, json);
  }

  /** Tells that the connection lives, and the position, which moves on by events not meant too. */
  byte[] heartbeat(long position) {
    JsonObject json =
        new JsonObject().with("heartbeat", Instant.now().toString()).with("position", position);
    return framed("event: heartbeat\n", position, json.end());
  }

  /**
   * The last record: why, and from where to resume.
   *
   * @param oldest the oldest position there is, if that is why
   */
  byte[] end(String reason, long position, @Nullable Long oldest) {
    JsonObject json = new JsonObject().with("end", reason).with("position", position);
    if (oldest != null) {
      json.with("oldest", oldest);
    }
    return framed("event: end\n", position, json.end());
  }

  private byte[] framed(String sseEvent, long position, byte[] json) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(json.length + 64);
    if (this == SSE) {
      out.writeBytes(
          (sseEvent + "id: " + position + "\ndata: ").getBytes(StandardCharsets.US_ASCII));
    }
    out.writeBytes(json);
    if (json[json.length - 1] != '\n') {
      out.write('\n');
    }
    if (this == SSE) {
      out.write('\n');
    }
    return out.toByteArray();
  }
}
