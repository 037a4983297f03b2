package dev.postrider.server.stream;

import dev.postrider.stream.StreamEvent;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** An event as it goes out, made once for all clients of the same kind. Thread-safe. */
final class Entry {
  private static final int FIXED_BYTES = 1_024;

  private final StreamEvent event;
  private final byte[] full;
  private final AtomicReferenceArray<byte[]> framed = new AtomicReferenceArray<>(4);

  Entry(StreamEvent event) {
    this.event = event.bare();
    this.full = event.json(true);
  }

  /** Without content. */
  StreamEvent event() {
    return event;
  }

  /** About what it keeps in memory. */
  int size() {
    return FIXED_BYTES + 2 * full.length;
  }

  byte[] bytes(Format format, boolean withContent) {
    int place = (format == Format.SSE ? 2 : 0) + (withContent ? 1 : 0);
    byte @Nullable [] made = framed.get(place);
    if (made == null) {
      made = format.event(event.position(), withContent ? full : event.json(false));
      framed.set(place, made);
    }
    return made;
  }
}
