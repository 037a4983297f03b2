package dev.postrider.deadletter;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A page of dead letters. Immutable.
 *
 * @param next where the following page starts, null after the last one
 */
public record DeadLetterPage(List<DeadLetter> items, @Nullable Cursor next) {
  public DeadLetterPage {
    items = List.copyOf(items);
  }

  /** A place in the list: behind this dead letter. */
  public record Cursor(Instant diedAt, UUID id) {}
}
