package dev.postrider.operations;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A page of messages, the newest first. Immutable.
 *
 * @param next where the following page starts, null after the last one; a page may hold fewer than
 *     asked for, even none, and still not be the last
 */
public record MessagePage(List<MessageStatus> items, @Nullable UUID next) {
  public MessagePage {
    items = List.copyOf(items);
  }
}
