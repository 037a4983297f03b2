package dev.postrider.server.stream;

import dev.postrider.internal.stream.StreamEvent;
import org.jspecify.annotations.Nullable;

/** An event as it goes out, made once for all clients. Thread-safe. */
final class Entry {
  /** About what is kept without content. */
  private static final int FIXED_BYTES = 1_024;

  private final StreamEvent event;
  private final byte[] full;
  private volatile byte @Nullable [] bare;

  Entry(StreamEvent event) {
    this.event = event.bare();
    this.full = line(event, true);
  }

  private static byte[] line(StreamEvent event, boolean withContent) {
    return Format.NDJSON.event(event.position(), event.json(withContent));
  }

  /** Without content. */
  StreamEvent event() {
    return event;
  }

  /** About what it keeps in memory. */
  int size() {
    return FIXED_BYTES + full.length;
  }

  byte[] bytes(Format format, boolean withContent) {
    byte[] line = withContent ? full : bare();
    return format == Format.NDJSON ? line : Format.SSE.event(event.position(), line);
  }

  private byte[] bare() {
    byte @Nullable [] made = bare;
    if (made == null) {
      made = line(event, false);
      bare = made;
    }
    return made;
  }
}
