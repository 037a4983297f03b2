package dev.postrider.server.api;

import dev.postrider.deadletter.DeadLetterPage.Cursor;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Places in lists by time and id, as text: nothing secret, but nothing to be built by callers. */
public final class Cursors {
  private Cursors() {}

  public static @Nullable String text(@Nullable Cursor cursor) {
    return cursor == null ? null : cursor.diedAt() + "_" + cursor.id();
  }

  /** Null for the first page. */
  public static @Nullable Cursor read(@Nullable String text) {
    if (text == null) {
      return null;
    }
    String[] parts = text.split("_", -1);
    try {
      if (parts.length == 2) {
        Instant time = Instant.parse(parts[0]);
        if (Times.storable(time)) {
          return new Cursor(time, UUID.fromString(parts[1]));
        }
      }
    } catch (DateTimeException | IllegalArgumentException e) {
      // said below
    }
    throw Problem.invalid("cursor", "must be what the page before said is next").toException();
  }
}
