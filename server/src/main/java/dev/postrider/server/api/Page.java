package dev.postrider.server.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list.
 *
 * @param next the cursor of the next page; null if this is the last
 */
public record Page<T, N>(List<T> items, @Nullable N next) {
  public Page {
    items = List.copyOf(items);
  }
}
