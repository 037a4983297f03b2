package dev.postrider.server.api;

import java.util.Collection;
import java.util.List;

/** A list that is never long. */
public record Listing<T>(List<T> items) {
  public Listing {
    items = List.copyOf(items);
  }

  public static <T> Listing<T> of(Collection<? extends T> items) {
    return new Listing<>(List.copyOf(items));
  }
}
