package dev.postrider.observe;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Event types or subscriptions as values of a tag: the first hundred by their names, all others
 * together, since users choose them and every value is a series for good. Thread-safe.
 */
final class TagValues {
  static final int MOST = 100;
  private final Set<String> known = ConcurrentHashMap.newKeySet();

  String tag(@Nullable String value) {
    if (value == null) {
      return "none";
    }
    if (known.contains(value)) {
      return value;
    }
    synchronized (known) {
      return known.contains(value) || (known.size() < MOST && known.add(value)) ? value : "other";
    }
  }
}
